// A queue pair: its numbers, its send queue, its settings, and datagrams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/configuration.h"
#include "base/containers.h"
#include "base/units.h"

namespace simulator {

// Numbers 0 and 1 belong to the special queue pairs of InfiniBand.
constexpr std::uint32_t queue_pair_number(std::uint32_t qp) {
  return qp + 2;
}

// Datagram queue pairs have numbers in the upper half of 24 bits.
constexpr std::uint32_t datagram_queue_pair_number(std::uint32_t qp) {
  return (1U << 23) + qp;
}

inline std::string queue_pair_name(std::uint32_t qp) {
  return "queue pair " + std::to_string(queue_pair_number(qp));
}

// The send queue of a queue pair: verbs in posting order, addressed by a running number.

// Numbers of enum ibv_wc_status.
enum class VerbStatus : int { kSuccess = 0, kFlushed = 5, kRetryExceeded = 12 };

enum class VerbKind : std::uint8_t { kWrite, kSend, kRead };

struct Verb {
  std::uint64_t wr_id = 0;
  std::uint64_t first_psn = 0;
  std::uint64_t last_psn = 0;
  Bytes length;
  // End of the first transmission of the last packet: an oracle, no verb delivers it. For a READ, what lies
  // between it and the completion is the travel time of the request and the last response.
  Picoseconds left_nic = kNever;
  std::uint32_t last_payload_bytes = 0;
  bool is_signaled = false;
  VerbKind kind = VerbKind::kWrite;
  std::optional<std::uint32_t> immediate{};
  std::int64_t local_offset = 0;
  std::int64_t remote_offset = 0;
  bool moves_bytes = false;  // between memories
};

using VerbRing = Ring<Verb>;

// A message of an unreliable datagram queue pair: one packet, with its bytes.
struct Datagram {
  std::uint32_t source;  // queue pair
  std::uint32_t destination;
  std::uint32_t route;  // as numbered by the engine
  std::uint64_t wr_id;
  std::string payload;
};

// 4.096 us * 2^exponent; exponent 0 means never. Source: InfiniBand architecture, volume 1, 9.7.6.1.3
// (transport timer).
constexpr Picoseconds retransmit_timeout(std::uint32_t exponent) {
  return exponent == 0 ? kNever : Picoseconds{std::int64_t{4'096'000} << exponent};
}

// Window in packets; at least one.
inline constexpr std::uint64_t kNoWindow = std::uint64_t{1} << 62;
constexpr std::uint64_t packets_in_window(Bytes window, std::uint32_t mtu_bytes) {
  const std::int64_t packets = (window.value - 1) / mtu_bytes + 1;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(packets), 1, kNoWindow);
}

struct RequesterSettings {
  std::uint32_t mtu_bytes = 0;
  std::uint32_t ack_every_packets = 0;
  std::uint32_t retry_count = 0;
  Picoseconds retransmit_timeout = kNever;
  bool is_unreliable = false;
  RetryRules retrying{};
  bool withholds_next_verb = false;  // until the one before it is acknowledged, while it recovers from a loss
  std::uint64_t unacknowledged_packets_max = 0;  // of a reliable connection; 0 = no limit
  std::uint64_t packets_after_nak_max = 0;       // that leave before the first one that is sent again

  std::uint64_t cap_packets() const {
    return is_unreliable || unacknowledged_packets_max == 0 ? kNoWindow : unacknowledged_packets_max;
  }
};

struct RequesterCounters {
  Bytes retransmitted_bytes;  // retransmitted, or requested again
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t naks = 0;  // and gaps in the responses to READs, which stand for one
  std::uint64_t timeouts = 0;
};

}  // namespace simulator
