// Marking of packets by the length of the queue they wait in: none up to kmin, all above kmax, in between
// with a probability that grows to pmax. Source: Floyd and Jacobson, "Random early detection gateways for
// congestion avoidance", 1993, for the slope and the average; RFC 3168 for marking instead of dropping; Zhu
// et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3, for the queue of
// the instant and for pmax to 1 at kmax; HP Comware, QoS configuration guides (WRED), for the drops, of what is
// above kmax and of what a queue without ECN would mark.
// Deviation: the average does not age while the queue is empty, as HP's formula, which knows packets and no time.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "protocol/packet_kind.h"

namespace simulator {

// Of the rules of a switch those for a port.
inline std::vector<MarkingConfiguration> rules_towards(bool is_host,
                                                       std::vector<MarkingConfiguration> rules) {
  std::erase_if(rules, [&](const MarkingConfiguration& rule) { return is_host && rule.spares_hosts; });
  return rules;
}

class Marker {
 public:
  static constexpr Bytes kNothingMarked{std::numeric_limits<std::int64_t>::max()};

  Marker(const std::vector<MarkingConfiguration>& rules, RandomStream stream) : stream_(stream) {
    for (const MarkingConfiguration& rule : rules) {
      for_each_priority(rule.priorities, [&](std::uint32_t priority) { rules_[priority] = rule; });
      if (rule.is_at_departure) at_departure_ |= rule.priorities;
      if (rule.average_weight < 1) averaging_ |= rule.priorities;
      if (rule.drops_above) dropping_ |= rule.priorities;
      if (rule.drops_instead) without_ecn_ |= rule.priorities;
      with_rules_ |= rule.priorities;
    }
  }

  bool is_at_departure(std::uint32_t priority) const { return has_priority(at_departure_, priority); }

  PriorityMask with_rules() const { return with_rules_; }

  // Priorities that on_arrival() must be called for, for every packet; for others that have rules, if it is not
  // ECN-capable.
  PriorityMask inspected() const { return static_cast<PriorityMask>(averaging_ | dropping_ | without_ecn_); }

  // Up to this queue length marks() returns false and need not be called.
  Bytes unmarked_max(std::uint32_t priority) const {
    if (!has_priority(with_rules_, priority) || has_priority(without_ecn_, priority)) return kNothingMarked;
    return has_priority(averaging_, priority) ? Bytes{-1} : rules_[priority].minimum;
  }

  // Called on arrival with the queue length. Returns true if the packet must be dropped: a packet that is not
  // ECN-capable, or meets a queue without ECN, is dropped where others are marked. Source: RFC 3168, section 5.
  // Deviation: it is always dropped on arrival.
  [[nodiscard]] bool on_arrival(std::uint32_t priority, std::int64_t waiting_bytes, bool is_ecn_capable) {
    if (has_priority(averaging_, priority)) [[unlikely]] {
      double& average = average_[priority];
      average += rules_[priority].average_weight * (static_cast<double>(waiting_bytes) - average);
    }
    if (has_priority(dropping_, priority) &&
        length(priority, waiting_bytes) > static_cast<double>(rules_[priority].maximum.value)) {
      return true;
    }
    return (!is_ecn_capable || has_priority(without_ecn_, priority)) && chooses(priority, waiting_bytes);
  }

  // True if a packet must be marked; `waiting_bytes` do not include it.
  bool marks(std::uint32_t priority, std::int64_t waiting_bytes) {
    return !has_priority(without_ecn_, priority) && chooses(priority, waiting_bytes);
  }

 private:
  // True if the rule applies to a packet, which is then marked or dropped.
  bool chooses(std::uint32_t priority, std::int64_t waiting_bytes) {
    if (!has_priority(with_rules_, priority)) return false;
    const MarkingConfiguration& rule = rules_[priority];
    const double length = this->length(priority, waiting_bytes);
    const auto minimum = static_cast<double>(rule.minimum.value);
    const auto maximum = static_cast<double>(rule.maximum.value);
    if (length <= minimum) return false;
    if (length > maximum) return true;
    return stream_.next_fraction() < rule.probability * (length - minimum) / (maximum - minimum);
  }

  double length(std::uint32_t priority, std::int64_t waiting_bytes) const {
    return has_priority(averaging_, priority) ? average_[priority] : static_cast<double>(waiting_bytes);
  }

  std::array<MarkingConfiguration, kPriorities> rules_{};
  PriorityMask with_rules_ = 0;
  PriorityMask at_departure_ = 0;
  PriorityMask averaging_ = 0;
  PriorityMask dropping_ = 0;
  PriorityMask without_ecn_ = 0;
  RandomStream stream_;
  std::array<double, kPriorities> average_{};  // bytes
};

}  // namespace simulator
