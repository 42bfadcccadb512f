// The receiving half of a reliable connection: accepts in order, one NAK per gap. Source: InfiniBand
// architecture, volume 1, 9.7.5 (responder); Linux rxe (rxe_resp.c).
#pragma once

#include <cstdint>

#include "base/units.h"
#include "protocol/psn.h"

namespace simulator {

enum class ReplyKind : std::uint8_t { kNone, kAck, kNak, kReadResponses };

struct Reply {
  ReplyKind kind;
  std::uint32_t psn;
};

class RcResponder {
 public:
  Reply on_write(std::uint32_t psn, Bytes payload, bool wants_ack) {
    const std::int32_t distance = psn_distance(psn, expected_psn_);
    if (distance == 0) [[likely]] {
      ++expected_psn_;
      delivered_ += payload;
      is_gap_told_ = false;
      return {wants_ack ? ReplyKind::kAck : ReplyKind::kNone, psn};
    }
    ++discarded_packets_;
    if (distance < 0) return {ReplyKind::kAck, static_cast<std::uint32_t>(expected_psn_ - 1)};
    if (is_gap_told_) return {ReplyKind::kNone, 0};
    is_gap_told_ = true;
    return {ReplyKind::kNak, static_cast<std::uint32_t>(expected_psn_)};
  }

  // A READ request, which has as many numbers as it has responses. A duplicate is executed again.
  Reply on_read(std::uint32_t psn, std::uint32_t responses) {
    const std::int32_t distance = psn_distance(psn, expected_psn_);
    if (distance > 0) return on_write(psn, Bytes{}, false);
    if (distance < 0) {
      ++discarded_packets_;
      return {ReplyKind::kReadResponses, psn};
    }
    expected_psn_ += responses;
    skipped_psns_ += responses - 1;
    is_gap_told_ = false;
    return {ReplyKind::kReadResponses, psn};
  }

  // A packet that came to a queue pair which is not connected (any more).
  void discard() { ++discarded_packets_; }

  // From now on packet `psn` is the next one.
  void restart(std::uint32_t psn) {
    const std::uint64_t first_psn = kPsnRound + psn;
    skipped_psns_ += first_psn - expected_psn_;
    expected_psn_ = first_psn;
    is_gap_told_ = false;
  }

  Bytes delivered() const { return delivered_; }
  std::uint64_t expected_psn() const { return expected_psn_; }
  std::uint64_t packets() const { return expected_psn_ - skipped_psns_ + discarded_packets_; }

 private:
  std::uint64_t expected_psn_ = 0;
  std::uint64_t skipped_psns_ = 0;  // numbers below expected_psn_ that no accepted packet had
  Bytes delivered_;
  std::uint64_t discarded_packets_ = 0;
  bool is_gap_told_ = false;
};

}  // namespace simulator
