// The receiving half of a TCP connection: keeps what came early, acknowledges now or later, hands marks on.
// Source: RFC 5681, section 4.2 (when to acknowledge); RFC 2018, section 4 (blocks); RFC 3168, section 6.1.3
// and RFC 8257, section 3.2 (marks).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/units.h"
#include "reliability/responder.h"
#include "tcp/scoreboard.h"
#include "tcp/settings.h"

namespace simulator {

class TcpResponder final : public Responder {
 public:
  explicit TcpResponder(const TcpSettings& settings) : settings_(settings) {}

  Picoseconds deadline() const override { return deadline_; }
  void on_deadline(Picoseconds) override { acknowledge(); }

  std::uint64_t expected() const override { return expected_; }
  Bytes delivered() const override { return delivered_; }

  std::uint32_t frame_bytes(const Acknowledgement& acknowledgement, const Framing&) const override {
    return settings_.acknowledgement_frame_bytes(acknowledgement.ranges);
  }

 protected:
  // The last segment of a transfer is acknowledged at once: it stands for the application's reply.
  // Deviation: a real one may be delayed like any other, or travel with data.
  void on_data(const DataPacket& segment, bool is_marked, Picoseconds now) override {
    take_mark(segment, is_marked);
    const bool was_whole = early_.empty();
    const bool is_next = segment.number == expected_;
    if (is_next) {
      accept(segment);
    } else if (segment.number > expected_) {
      early_.add(segment.number, segment.number + 1, [&](std::uint64_t) { return segment.payload_bytes; });
      remember(segment.number);
    }
    ++pending_;
    if (is_next && was_whole && !segment.is_last && pending_ < settings_.acknowledge_every) {
      if (deadline_ == kNever) deadline_ = now + settings_.delayed_acknowledgement;
    } else {
      acknowledge();
    }
  }

 private:
  // DCTCP acknowledges what waits with the old state before the state changes.
  void take_mark(const DataPacket& segment, bool is_marked) {
    if (settings_.echo == TcpEcho::kNone) return;
    if (settings_.echo == TcpEcho::kLatched) {
      is_echoing_ = (is_echoing_ && !segment.has_reduced) || is_marked;
      return;
    }
    if (is_marked == is_echoing_) return;
    if (pending_ > 0) acknowledge();
    is_echoing_ = is_marked;
  }

  void accept(const DataPacket& segment) {
    const NumberRanges::Piece joined = early_.take(expected_ + 1);
    expected_ = joined.end;
    delivered_.value += segment.payload_bytes + joined.bytes;
  }

  // The numbers that came early, the newest first; each stands for its range.
  void remember(std::uint64_t number) {
    std::rotate(recent_.begin(), recent_.end() - 1, recent_.end());
    recent_[0] = number;
  }

  void acknowledge() {
    pending_ = 0;
    deadline_ = kNever;
    Acknowledgement result{.expected = expected_, .echoes_mark = is_echoing_, .echoed = {}};
    if (settings_.is_selective && !early_.empty()) {
      for (const std::uint64_t number : recent_) {
        const NumberRanges::Piece* const piece = number < expected_ ? nullptr : early_.find(number);
        if (piece != nullptr) add_block(result, *piece);
      }
    }
    queue_up(result);
  }

  static void add_block(Acknowledgement& result, const NumberRanges::Piece& piece) {
    for (std::uint32_t i = 0; i < result.ranges; ++i) {
      if (result.selective[i].first == piece.first) return;
    }
    if (result.ranges < Acknowledgement::kRangesMax) result.add({piece.first, piece.end});
  }

  static constexpr std::size_t kRecent = 4;

  TcpSettings settings_;
  std::uint64_t expected_ = 0;
  Bytes delivered_;
  std::uint32_t pending_ = 0;  // segments that wait to be acknowledged
  Picoseconds deadline_ = kNever;
  bool is_echoing_ = false;
  NumberRanges early_;
  std::array<std::uint64_t, kRecent> recent_{};
};

}  // namespace simulator
