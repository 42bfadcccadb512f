// Marking of packets by the length of the queue they wait in: none up to kmin, all above kmax, in between
// with a probability that grows to pmax. Marks, never drops. Source: Floyd and Jacobson, "Random early
// detection gateways for congestion avoidance", 1993, for the slope and the average; RFC 3168 for marking
// instead of dropping; Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015,
// section 3, for the queue of the instant and for pmax to 1 at kmax.
#pragma once

#include <array>
#include <cstdint>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "protocol/priorities.h"

namespace simulator {

class Marker {
 public:
  Marker(const MarkingConfiguration& rule, RandomStream stream) : rule_(rule), stream_(stream) {}

  bool is_at_departure() const { return rule_.is_at_departure; }

  // A packet comes and finds so many bytes waiting.
  void on_arrival(std::uint32_t priority, std::int64_t waiting_bytes) {
    double& average = average_[priority];
    average += rule_.average_weight * (static_cast<double>(waiting_bytes) - average);
  }

  // Whether to mark a packet; `waiting_bytes` do not count it.
  bool marks(std::uint32_t priority, std::int64_t waiting_bytes) {
    const double length = rule_.average_weight < 1 ? average_[priority] : static_cast<double>(waiting_bytes);
    const auto minimum = static_cast<double>(rule_.minimum.value);
    const auto maximum = static_cast<double>(rule_.maximum.value);
    if (length <= minimum) return false;
    if (length > maximum) return true;
    return stream_.next_fraction() < rule_.probability * (length - minimum) / (maximum - minimum);
  }

 private:
  MarkingConfiguration rule_;
  RandomStream stream_;
  std::array<double, kPriorities> average_{};  // bytes
};

}  // namespace simulator
