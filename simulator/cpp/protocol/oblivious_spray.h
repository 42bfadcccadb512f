// Which of its entropies a sprayed queue pair gives to its next packet: all of them in rounds, each round in an
// order of its own, whatever becomes of the packets. Source: "oblivious" load balancing of uet-htsim
// (UecMpOblivious, commit 40ccb05), whose rounds count up and XOR the count with a number drawn for the round;
// so `paths` is a power of two.
#pragma once

#include <cstdint>

#include "base/random_stream.h"

namespace simulator {

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
