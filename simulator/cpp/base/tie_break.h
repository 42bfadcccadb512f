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
  static constexpr int kLinkBits = 19;

  explicit TieBreak(std::uint64_t seed) : seed_(mix_bits(seed + 1)) {}

  // Maps links to places in line. Applied twice at one instant it gives the link back.
  std::uint32_t shuffled(std::uint32_t link, Picoseconds at) const {
    std::uint64_t hash = (static_cast<std::uint64_t>(at.value) ^ seed_) * kOdd;
    hash = (hash ^ (hash >> 32)) * kOdd;  // instants lie on a grid: one multiplication leaves them on one
    return link ^ static_cast<std::uint32_t>(hash >> (64 - kLinkBits));
  }

 private:
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  std::uint64_t seed_;
};

}  // namespace simulator
