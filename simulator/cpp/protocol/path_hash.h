// Choice of a path by a hash, and by random entropy.
#pragma once

#include <cstdint>

#include "base/random_stream.h"

namespace simulator {

// Equal-cost multipath by 5-tuple: addresses and ports are hashed with the seed, and each switch hashes that with
// its own number. The same as in simulator/routing.py, which memorises a whole route; this is for packets that
// choose their path switch by switch.
class PathHash {
 public:
  PathHash() = default;
  PathHash(std::uint64_t seed, std::uint32_t source, std::uint32_t destination)
      : ends_(mix_bits(mix_bits(mix_bits(seed) ^ source) ^ destination)) {}

  // Index of the port that a switch takes among `count` equal ones.
  std::uint32_t choice(std::uint64_t entropy, std::uint32_t node, std::uint32_t ports) const {
    const std::uint64_t hash = mix_bits(mix_bits(ends_ ^ entropy) ^ node);
    return static_cast<std::uint32_t>((ports & (ports - 1)) == 0 ? hash & (ports - 1) : hash % ports);
  }

 private:
  std::uint64_t ends_ = 0;
};

// Entropy of the next packet of a sprayed queue pair: all entropies in rounds, each round in a different order,
// whatever happens to the packets. Source: "oblivious" load balancing of uet-htsim (UecMpOblivious, commit 40ccb05),
// whose rounds count up and XOR the count with a number drawn for the round; so `paths` is a power of two.
class ObliviousSpray {
 public:
  ObliviousSpray(RandomStream stream, std::uint32_t paths) : stream_(stream), mask_(paths - 1) {}

  // From 0 to paths - 1.
  std::uint32_t next() {
    if (count_ == 0) order_ = static_cast<std::uint32_t>(stream_.next_bits()) & mask_;
    const std::uint32_t path = count_ ^ order_;
    count_ = (count_ + 1) & mask_;
    return path;
  }

 private:
  RandomStream stream_;
  std::uint32_t mask_;
  std::uint32_t count_ = 0;  // within the round
  std::uint32_t order_ = 0;  // of the round
};

}  // namespace simulator
