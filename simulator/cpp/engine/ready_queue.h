// The queue pairs of a NIC that have something to send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/units.h"
#include "engine/quaternary_heap.h"

namespace simulator {

// The one that became ready first goes first, which is round robin among those that wait for the port; of
// equals, the one that was served longest ago. Two words, so that an entry is passed in registers.
class ReadyQueuePair {
 public:
  static constexpr int kQueuePairBits = 24;
  static constexpr std::uint32_t kQueuePairsMax = 1U << kQueuePairBits;

  // `served`: how many packets the NIC had sent when this queue pair last sent one.
  ReadyQueuePair(Picoseconds ready, std::uint64_t served, std::uint32_t qp)
      : ready_(ready), turn_(served << kQueuePairBits | qp) {}

  Picoseconds ready() const { return ready_; }
  std::uint32_t qp() const { return static_cast<std::uint32_t>(turn_) & (kQueuePairsMax - 1); }
  void set_ready(Picoseconds ready) { ready_ = ready; }

  friend bool operator<(const ReadyQueuePair& a, const ReadyQueuePair& b) {
    // Without a branch, for nobody can predict it.
    return (a.ready_ < b.ready_) | ((a.ready_ == b.ready_) & (a.turn_ < b.turn_));
  }

 private:
  Picoseconds ready_;
  std::uint64_t turn_;  // when it was served last, and its number
};

// Each touch of the NIC's port asks when the first queue pair is ready, and mostly none is. So that instant is
// kept beside the heap.
class ReadyQueue {
 public:
  Picoseconds first() const { return first_; }  // kNever if there is none
  const ReadyQueuePair& top() const { return heap_.top(); }
  std::size_t size() const { return heap_.size(); }

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
  void follow_heap() { first_ = heap_.empty() ? kNever : heap_.top().ready(); }

  Picoseconds first_ = kNever;
  QuaternaryHeap<ReadyQueuePair> heap_;
};

}  // namespace simulator
