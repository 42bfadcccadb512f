// Who goes first when packets arrive at the same instant.
//
// Symmetric networks run in lockstep: packets tie to the picosecond, over and over. With a fixed order the
// same link would win each time, and with it the last place in a full buffer. So each instant has an order of
// its own, which depends on nothing but the seed and the time: not on the event queue, and not on which
// engine asks.
#pragma once

#include <cstdint>

#include "base/random_stream.h"
#include "base/units.h"

namespace simulator {

class TieBreak {
 public:
  static constexpr int kBits = 8;

  explicit TieBreak(std::uint64_t seed) : seed_(mix_bits(seed + 1)) {}

  // The place of a directed link in the order of this instant, from 0 to 255. Links of equal place go by
  // number; those lie at least 512 numbers apart.
  std::uint32_t place(std::uint32_t link, Picoseconds at) const {
    const std::uint64_t hash = (static_cast<std::uint64_t>(at.value) ^ seed_) * 0x9e3779b97f4a7c15ULL;
    return ((link >> 1) ^ static_cast<std::uint32_t>(hash >> (64 - kBits))) & ((1U << kBits) - 1);
  }

 private:
  std::uint64_t seed_;
};

}  // namespace simulator
