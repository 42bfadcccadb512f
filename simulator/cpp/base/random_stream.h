// Random numbers, and the order of packets that arrive at the same instant.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/units.h"

namespace simulator {

// One named random stream per element and purpose, so that switching one mechanism on never re-randomises
// another.

// Bit mixer of splitmix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// 2014.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name) : state_(mix_bits(seed)) {
    for (const char c : name) state_ = mix_bits(state_ ^ static_cast<unsigned char>(c)) + kIncrement;
  }

  // State from which a stream elsewhere continues.
  std::uint64_t state() const { return state_; }

  std::uint64_t next_bits() { return mix_bits(state_ += kIncrement); }

  // Uniform in [0, 1).
  double next_fraction() { return static_cast<double>(next_bits() >> 11) * 0x1p-53; }

  // Uniform in [0, maximum], both included.
  std::int64_t next_integer(std::int64_t maximum) {
    return static_cast<std::int64_t>(next_fraction() * (static_cast<double>(maximum) + 1.0));
  }

 private:
  static constexpr std::uint64_t kIncrement = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

// Order of packets that arrive at the same instant.
//
// Symmetric networks run in lockstep: packets tie to the picosecond, over and over. With a fixed order the
// same link would win each time, and with it the last place in a full buffer. So each instant has an order of
// its own, which depends on nothing but the seed and the time: not on the event queue, and not on which
// engine asks.
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
