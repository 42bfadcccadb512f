// Equal-cost multipath by 5-tuple: addresses and ports are hashed with the seed, and each switch hashes that with
// its own number. The same as in simulator/routing.py, which memorises a whole route; this is for packets that
// choose their way switch by switch.
#pragma once

#include <cstdint>

#include "base/random_stream.h"

namespace simulator {

class PathHash {
 public:
  PathHash() = default;
  PathHash(std::uint64_t seed, std::uint32_t source, std::uint32_t destination)
      : ends_(mix_bits(mix_bits(mix_bits(seed) ^ source) ^ destination)) {}

  // Which of so many equal ports a switch takes.
  std::uint32_t choice(std::uint64_t entropy, std::uint32_t node, std::uint32_t ports) const {
    const std::uint64_t hash = mix_bits(mix_bits(ends_ ^ entropy) ^ node);
    return static_cast<std::uint32_t>((ports & (ports - 1)) == 0 ? hash & (ports - 1) : hash % ports);
  }

 private:
  std::uint64_t ends_ = 0;
};

}  // namespace simulator
