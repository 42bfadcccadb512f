// Responders of reliable and unreliable connections, and the receive buffer of a NIC.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "protocol/fault.h"
#include "protocol/packet_kind.h"

namespace simulator {

// The receiving half of a reliable connection: accepts in order, one NAK per gap. Source: InfiniBand
// architecture, volume 1, 9.7.5 (responder); Linux rxe (rxe_resp.c).
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
      is_gap_reported_ = false;
      return {wants_ack ? ReplyKind::kAck : ReplyKind::kNone, psn};
    }
    ++discarded_packets_;
    if (distance < 0) return {ReplyKind::kAck, static_cast<std::uint32_t>(expected_psn_ - 1)};
    if (is_gap_reported_) return {ReplyKind::kNone, 0};
    is_gap_reported_ = true;
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
    is_gap_reported_ = false;
    return {ReplyKind::kReadResponses, psn};
  }

  // A packet that came to a queue pair which is not connected (any more).
  void discard() { ++discarded_packets_; }

  // From now on packet `psn` is the next one.
  void restart(std::uint32_t psn) {
    const std::uint64_t first_psn = kPsnRound + psn;
    skipped_psns_ += first_psn - expected_psn_;
    expected_psn_ = first_psn;
    is_gap_reported_ = false;
  }

  Bytes delivered() const { return delivered_; }
  std::uint64_t expected_psn() const { return expected_psn_; }
  std::uint64_t packets() const { return expected_psn_ - skipped_psns_ + discarded_packets_; }

 private:
  std::uint64_t expected_psn_ = 0;
  std::uint64_t skipped_psns_ = 0;  // numbers below expected_psn_ that no accepted packet had
  Bytes delivered_;
  std::uint64_t discarded_packets_ = 0;
  bool is_gap_reported_ = false;
};

// The receiving half of an unreliable connection: a message arrives whole or not at all. Source: InfiniBand
// architecture, volume 1, 9.8.3 (unreliable service); Linux rxe (rxe_resp.c, check_psn for UC).
class UcResponder {
 public:
  enum class Reception : std::uint8_t { kDiscarded, kAccepted, kMessageComplete };

  // A first packet starts a message, whatever its number; after a gap everything up to the next one is lost.
  Reception on_packet(std::uint32_t psn, std::uint8_t flags, Bytes payload) {
    if ((flags & PacketFlags::kFirst) != 0) {
      is_in_message_ = true;
      message_ = {};
    } else if (!is_in_message_ || psn_distance(psn, expected_psn_) != 0) {
      is_in_message_ = false;
      ++discarded_packets_;
      return Reception::kDiscarded;
    }
    ++accepted_packets_;
    expected_psn_ = psn + 1;
    message_ += payload;
    if ((flags & PacketFlags::kLast) == 0) return Reception::kAccepted;
    is_in_message_ = false;
    delivered_ += message_;
    ++delivered_messages_;
    return Reception::kMessageComplete;
  }

  void discard() { ++discarded_packets_; }
  void restart() { is_in_message_ = false; }

  Bytes delivered() const { return delivered_; }  // of whole messages
  std::uint64_t delivered_messages() const { return delivered_messages_; }
  std::uint64_t packets() const { return accepted_packets_ + discarded_packets_; }

 private:
  std::uint32_t expected_psn_ = 0;
  bool is_in_message_ = false;
  Bytes message_;  // received bytes of the current message
  Bytes delivered_;
  std::uint64_t delivered_messages_ = 0;
  std::uint64_t accepted_packets_ = 0;
  std::uint64_t discarded_packets_ = 0;
};

// The receive buffer of a NIC that takes packets in more slowly than its link brings them, and tells the
// other end to pause. Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.4
// (slow receiver symptom).
class ReceiveBuffer {
 public:
  explicit ReceiveBuffer(const SlowReceiver& receiver)
      : size_(receiver.size.value),
        xoff_(receiver.xoff.value),
        xon_(receiver.xon.value),
        ps_per_byte_(picoseconds_per_byte(receiver.rate)) {}

  // A frame has come. False if there is no room for it.
  [[nodiscard]] bool takes(Picoseconds now, std::int64_t frame_bytes) {
    drain(now);
    if (level_ + static_cast<double>(frame_bytes) > static_cast<double>(size_)) return false;
    level_ += static_cast<double>(frame_bytes);
    return true;
  }

  bool must_pause() const { return level_ > static_cast<double>(xoff_); }
  bool may_resume(Picoseconds now) {
    drain(now);
    return level_ <= static_cast<double>(xon_);
  }

  // When it may, if nothing else comes.
  Picoseconds resumption(Picoseconds now) {
    drain(now);
    const double above = std::max(0.0, level_ - static_cast<double>(xon_));
    return now + Picoseconds{static_cast<std::int64_t>(above * ps_per_byte_) + 1};
  }

 private:
  void drain(Picoseconds now) {
    level_ = std::max(0.0, level_ - static_cast<double>((now - drained_).value) / ps_per_byte_);
    drained_ = now;
  }

  std::int64_t size_;
  std::int64_t xoff_;
  std::int64_t xon_;
  double ps_per_byte_;
  double level_ = 0;  // bytes
  Picoseconds drained_;
};

}  // namespace simulator
