// Round-trip times of segments: a segment ends with the packet that fills it, and its time is that
// packet's, from the instant its last byte leaves at the line rate to its acknowledgement. In a burst at
// line rate that is the completion time of the whole segment less its serialisation.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "base/units.h"
#include "cc/controller.h"

namespace simulator {

class Segments {
 public:
  Segments(Bytes size, BitsPerSecond line_rate)
      : size_(size), ps_per_byte_(picoseconds_per_byte(line_rate)) {}

  void on_sent(Picoseconds now, Bytes wire) {
    gathered_ += wire;
    if (gathered_ < size_) return;
    gathered_ = Bytes{};
    if (waiting_.size() == kWaitingMax) waiting_.pop_front();
    waiting_.push_back({now, now + duration_of(wire, ps_per_byte_)});
  }

  // The time of the segment that ends with the packet that is acknowledged, if any. Packets are known by the
  // instants they left at, so one that was sent again cannot be taken for the first one.
  std::optional<Picoseconds> on_acknowledgement(Picoseconds now, const Acknowledged& acknowledged) {
    if (acknowledged.sent == kNever) return {};
    std::optional<Picoseconds> time;
    for (; !waiting_.empty() && waiting_.front().began <= acknowledged.sent; waiting_.pop_front()) {
      if (waiting_.front().began == acknowledged.sent) time = now - waiting_.front().ended;
    }
    return time;
  }

 private:
  static constexpr std::size_t kWaitingMax = 4096;  // nobody acknowledges responses to READs

  struct Last {
    Picoseconds began;
    Picoseconds ended;
  };

  Bytes size_;
  double ps_per_byte_;
  Bytes gathered_;            // of the segment that is being sent
  std::deque<Last> waiting_;  // last packets of segments, in the order they left
};

}  // namespace simulator
