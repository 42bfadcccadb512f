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
  void want(std::uint32_t qp) { shift(entry_of(qp), kAsking); }

  // When the next turn is; kNever if nobody has one.
  Picoseconds deadline() const { return queues_[kAsking].empty() && queues_[kIdle].empty() ? kNever : free_; }

  // Whose turn it is. The caller says afterwards where it goes and how long it takes.
  Turn take() {
    const bool is_idle = queues_[kAsking].empty();
    const Queue::iterator first = queues_[is_idle ? kIdle : kAsking].begin();
    shift(first, kNowhere);
    return {first->qp, is_idle};
  }

  void wait_for_idle_moments(std::uint32_t qp) { shift(entry_of(qp), kIdle); }
  void wait_until(Picoseconds free) { free_ = free; }

 private:
  enum Where : std::uint8_t { kNowhere, kAsking, kIdle };
  struct Entry {
    std::uint32_t qp;
    Where where;
  };
  using Queue = std::list<Entry>;

  Queue::iterator entry_of(std::uint32_t qp) {
    const auto [found, is_new] = entries_.try_emplace(qp);
    if (is_new) found->second = queues_[kNowhere].insert(queues_[kNowhere].end(), {qp, kNowhere});
    return found->second;
  }

  // To the end of that queue, unless it stands there.
  void shift(Queue::iterator entry, Where to) {
    if (entry->where == to) return;
    queues_[to].splice(queues_[to].end(), queues_[entry->where], entry);
    entry->where = to;
  }

  std::array<Queue, 3> queues_;  // splicing costs the same wherever one stands
  std::unordered_map<std::uint32_t, Queue::iterator> entries_;
  Picoseconds free_;
};

}  // namespace simulator
