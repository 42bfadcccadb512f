// The receiving half of an unreliable connection: a message arrives whole or not at all. Source: InfiniBand
// architecture, volume 1, 9.8.3 (unreliable service); Linux rxe (rxe_resp.c, check_psn for UC).
#pragma once

#include <cstdint>

#include "base/units.h"
#include "protocol/packet_kind.h"
#include "protocol/psn.h"

namespace simulator {

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
  Bytes message_;  // what has come of it
  Bytes delivered_;
  std::uint64_t delivered_messages_ = 0;
  std::uint64_t accepted_packets_ = 0;
  std::uint64_t discarded_packets_ = 0;
};

}  // namespace simulator
