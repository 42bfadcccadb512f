// What a host's receivers grant to their senders comes one grant after the other, at a little less than the rate of
// its link: so their sum never fills the queue in front of it. Those whose senders ask take turns; while nobody asks,
// those that were satisfied have some credit ahead, for what their senders begin next. It keeps no clock. Source:
// Ultra Ethernet specification 1.0, congestion management (RCCC); uet-htsim's uec.cpp (commit 40ccb05: UecPullPacer).
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "base/units.h"

namespace simulator {

class CreditPacer {
 public:
  struct Turn {
    std::uint32_t qp;
    bool is_idle;  // nobody asks
  };

  CreditPacer() = default;
  CreditPacer(CreditPacer&&) = default;
  CreditPacer& operator=(CreditPacer&&) = default;

  // This receiver's sender asks for credit.
  void want(std::uint32_t qp) { move(qp, kAsking); }

  // When the next turn is; kNever if nobody has one.
  Picoseconds deadline() const { return queues_[kAsking].empty() && queues_[kIdle].empty() ? kNever : free_; }

  // Whose turn it is. The caller says afterwards where it goes and how long it takes.
  Turn take() {
    const bool is_idle = queues_[kAsking].empty();
    const std::uint32_t qp = queues_[is_idle ? kIdle : kAsking].front();
    move(qp, kNowhere);
    return {qp, is_idle};
  }

  void wait_for_idle_moments(std::uint32_t qp) { move(qp, kIdle); }
  void wait_until(Picoseconds free) { free_ = free; }

 private:
  enum Where : std::uint8_t { kNowhere, kAsking, kIdle };
  using Queue = std::list<std::uint32_t>;

  struct Place {
    Where where;
    Queue::iterator at;
  };

  // To the end of that queue, unless it stands there.
  void move(std::uint32_t qp, Where to) {
    const auto [found, is_new] = places_.try_emplace(qp, Place{kNowhere, {}});
    Place& place = found->second;
    if (is_new) place.at = queues_[kNowhere].insert(queues_[kNowhere].end(), qp);
    if (place.where == to) return;
    queues_[to].splice(queues_[to].end(), queues_[place.where], place.at);
    place.where = to;
  }

  std::array<Queue, 3> queues_;  // splicing costs the same wherever one stands
  std::unordered_map<std::uint32_t, Place> places_;
  Picoseconds free_;
};

}  // namespace simulator
