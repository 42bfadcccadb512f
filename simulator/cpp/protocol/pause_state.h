// Pauses at the sending end of a link: until when each priority is paused, and since when.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/fields.h"
#include "base/units.h"
#include "protocol/packet_kind.h"

namespace simulator {

// A frame of priority flow control: for each priority of `priorities` a pause time, or 0 to resume.
// Source: IEEE 802.1Qbb-2011; its size is that of the smallest Ethernet frame, IEEE 802.3, annex 31D.
struct PauseFrame {
  static constexpr std::uint16_t kFrameBytes = 64;

  PriorityMask priorities;
  PriorityMask paused;
};

// A port that was paused. This is a row of a table.
struct PausedInterval {
  std::uint32_t link = 0;
  std::uint32_t priority = 0;
  Picoseconds start;
  Picoseconds end;
};
template <>
struct FieldsOf<PausedInterval> {
  using Row = PausedInterval;
  static constexpr auto kTable = std::tuple(Field{"link", &Row::link}, Field{"priority", &Row::priority},
                                            Field{"start_ps", &Row::start}, Field{"end_ps", &Row::end});
};

class PauseState {
 public:
  using Records = std::vector<PausedInterval>;

  // When this priority may send again: kNever while it waits to be resumed, and the past if it may send now.
  Picoseconds paused_until(std::uint32_t priority) const { return until_[priority]; }
  bool is_paused(std::uint32_t priority, Picoseconds now) const { return until_[priority] > now; }

  // Priorities that were paused and not yet resumed: those that may be paused now.
  PriorityMask may_be_paused() const { return may_be_paused_; }

  bool has_been_paused(std::uint32_t priority, Picoseconds duration, Picoseconds now) const {
    return is_paused(priority, now) && now - since_[priority] >= duration;
  }
  bool has_been_free(std::uint32_t priority, Picoseconds duration, Picoseconds now) const {
    return !is_paused(priority, now) && now - until_[priority] >= duration;
  }

  // When a watchdog has to look again: at pauses that last, and at priorities that it has `blocked`.
  Picoseconds next_check(PriorityMask blocked, Picoseconds after, Picoseconds restore,
                         Picoseconds now) const {
    Picoseconds next = kNever;
    for_each_priority(static_cast<PriorityMask>(may_be_paused_ | blocked), [&](std::uint32_t priority) {
      const bool is_blocked = has_priority(blocked, priority);
      if (is_paused(priority, now)) {
        if (!is_blocked)
          next = std::min(next, since_[priority] + after);
        else if (until_[priority] != kNever)
          next = std::min(next, until_[priority] + restore);
      } else if (is_blocked) {
        next = std::min(next, until_[priority] + restore);
      }
    });
    return next;
  }

  // Handles a pause frame; `until` is the end of its pause time.
  void on_frame(const PauseFrame& frame, Picoseconds now, Picoseconds until, std::uint32_t link,
                Records& records) {
    for_each_priority(frame.priorities, [&](std::uint32_t priority) {
      const bool was_paused = is_paused(priority, now);
      const bool is_pause = has_priority(frame.paused, priority);
      if (!is_pause && was_paused) until_[priority] = now;
      may_be_paused_ &= static_cast<PriorityMask>(~mask_of(priority));
      if (!is_pause || !was_paused) close(priority, now, link, records);
      if (!is_pause) return;
      if (!was_paused) since_[priority] = now;
      open_ |= mask_of(priority);
      may_be_paused_ |= mask_of(priority);
      until_[priority] = until;
    });
  }

  // Records pauses that have begun, up to `now`. A pause that continues appears again later with its end.
  void add_open(Picoseconds now, std::uint32_t link, Records& records) const {
    for_each_priority(open_, [&](std::uint32_t priority) {
      if (since_[priority] <= now) add(priority, now, link, records);  // a switch may be ahead
    });
  }

 private:
  void close(std::uint32_t priority, Picoseconds now, std::uint32_t link, Records& records) {
    if (!has_priority(open_, priority)) return;
    add(priority, now, link, records);
    open_ &= static_cast<PriorityMask>(~mask_of(priority));
  }

  void add(std::uint32_t priority, Picoseconds now, std::uint32_t link, Records& records) const {
    records.push_back({.link = link,
                       .priority = priority,
                       .start = since_[priority],
                       .end = std::min(until_[priority], now)});
  }

  PriorityMask may_be_paused_ = 0;
  std::array<Picoseconds, kPriorities> until_{};
  std::array<Picoseconds, kPriorities> since_{};
  PriorityMask open_ = 0;  // have begun, and are not recorded yet
};

}  // namespace simulator
