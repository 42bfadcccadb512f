// Timers that are no links: retransmission, samplers, host software. One pending heap entry per timer; moving
// a deadline back only writes a field, and the entry, when it comes up early, goes back in.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "engine/quaternary_heap.h"

namespace simulator {

// Purpose of a timer; the comments name its subject.
enum class TimerKind : std::uint8_t {
  kRetransmit,  // queue pair: its timeout; with UC, the end of its oldest verb; all timers of a Reliability
  kSampleThroughput,  // none
  kSampleQueues,      // none
  kRefreshPause,      // link: a switch repeats a pause frame
  kWatchdog,          // link: it has been paused for too long, or free for long enough
  kReceive,           // host that takes packets in slowly: there may be room again
  kControl,           // queue pair
  kCongestionPoint,   // link: RoCC's period is over
  kCredit,            // NIC that grants it
  kLateReply,         // packet: its NIC sends a NAK or a CNP only now
  kPacketEvent,       // event: the packet that it delays goes on
  kCompletion,        // queue pair: its host can see one
  kHost,              // timer of host software
  kHostOnce           // call of host software
};

struct DueTimer {
  TimerKind kind;
  std::uint32_t subject;
};

class TimerQueue {
 public:
  // Of timers due at the same instant, the one created first goes first.
  std::uint32_t create(TimerKind kind, std::uint32_t subject) {
    timers_.push_back({.order = next_order_++, .kind = kind, .subject = subject});
    return static_cast<std::uint32_t>(timers_.size() - 1);
  }

  std::uint32_t next_id() const { return static_cast<std::uint32_t>(timers_.size()); }

  void set(std::uint32_t id, Picoseconds at) {
    Timer& timer = timers_[id];
    timer.deadline = at;
    if (at < timer.entry_at) push(id, at);
  }

  // A timer that fires once and is then forgotten. It cannot be moved.
  void set_once(TimerKind kind, std::uint32_t subject, Picoseconds at) {
    std::uint32_t id;
    if (free_.empty()) {
      id = create(kind, subject);
    } else {
      id = free_.back();
      free_.pop_back();
      timers_[id] = {.order = next_order_++, .kind = kind, .subject = subject};
    }
    timers_[id].is_once = true;
    set(id, at);
  }

  void cancel(std::uint32_t id) { timers_[id].deadline = kNever; }

  // The earliest entry: nothing is due before.
  Picoseconds next_instant() const { return heap_.empty() ? kNever : heap_.top().at; }

  // Takes the earliest entry off; empty if its timer has been moved or cancelled.
  std::optional<DueTimer> take_earliest() {
    const Entry entry = heap_.top();
    heap_.pop();
    Timer& timer = timers_[entry.id];
    if (timer.entry_at != entry.at) return {};
    timer.entry_at = kNever;
    if (timer.deadline > entry.at) {
      if (timer.deadline != kNever) push(entry.id, timer.deadline);
      return {};
    }
    timer.deadline = kNever;
    if (timer.is_once) free_.push_back(entry.id);
    return DueTimer{timer.kind, timer.subject};
  }

 private:
  struct Timer {
    Picoseconds deadline = kNever;
    Picoseconds entry_at = kNever;
    std::uint64_t order = 0;
    TimerKind kind;
    std::uint32_t subject = 0;
    bool is_once = false;
  };

  struct Entry {
    Picoseconds at;
    std::uint64_t order;
    std::uint32_t id;
    friend bool operator<(const Entry& a, const Entry& b) {
      return std::tie(a.at, a.order) < std::tie(b.at, b.order);
    }
  };

  void push(std::uint32_t id, Picoseconds at) {
    timers_[id].entry_at = at;
    heap_.push({at, timers_[id].order, id});
  }

  std::vector<Timer> timers_;
  std::vector<std::uint32_t> free_;
  QuaternaryHeap<Entry> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace simulator
