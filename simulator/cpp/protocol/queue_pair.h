// Numbers of queue pairs, and what messages call one.
#pragma once

#include <cstdint>
#include <string>

namespace simulator {

// Numbers 0 and 1 belong to the special queue pairs of InfiniBand.
constexpr std::uint32_t queue_pair_number(std::uint32_t qp) {
  return qp + 2;
}

// Datagram queue pairs have numbers of their own, in the upper half of 24 bits.
constexpr std::uint32_t datagram_queue_pair_number(std::uint32_t qp) {
  return (1U << 23) + qp;
}

inline std::string queue_pair_name(std::uint32_t qp) {
  return "queue pair " + std::to_string(queue_pair_number(qp));
}

}  // namespace simulator
