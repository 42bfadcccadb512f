// The queue pairs of a NIC that have something to send.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/units.h"
#include "engine/quaternary_heap.h"

namespace simulator {

// The one that became ready first goes first, which is round robin among those that wait for the port; of
// equals, the one that was served longest ago.
struct ReadyQueuePair {
  Picoseconds ready;
  std::uint64_t served;  // how many packets this NIC had sent when this queue pair last sent one
  std::uint32_t qp;
  friend bool operator<(const ReadyQueuePair& a, const ReadyQueuePair& b) {
    if (a.ready != b.ready) [[likely]]
      return a.ready < b.ready;
    return std::tie(a.served, a.qp) < std::tie(b.served, b.qp);
  }
};

// Whoever touches the NIC's port asks when the first one is ready, and mostly nothing is: so that instant is
// kept beside the heap.
class ReadyQueue {
 public:
  Picoseconds first() const { return first_; }  // kNever if there is none
  const ReadyQueuePair& top() const { return heap_.top(); }

  void push(const ReadyQueuePair& entry) {
    heap_.push(entry);
    follow_heap();
  }

  void replace_top(const ReadyQueuePair& entry) {
    heap_.replace_top(entry);
    follow_heap();
  }

  void pop() {
    heap_.pop();
    follow_heap();
  }

  // Changes or drops entries: `change(entry)` returns false for an entry to drop.
  template <class Change>
  void rebuild(Change&& change) {
    heap_.rebuild(change);
    follow_heap();
  }

 private:
  void follow_heap() { first_ = heap_.empty() ? kNever : heap_.top().ready; }

  Picoseconds first_ = kNever;
  QuaternaryHeap<ReadyQueuePair> heap_;
};

}  // namespace simulator
