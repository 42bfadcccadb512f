// What a requester is told when it is made, and what it counts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace simulator {

// 4.096 us * 2^exponent; exponent 0 means never. Source: InfiniBand architecture, volume 1, 9.7.6.1.3
// (transport timer).
constexpr Picoseconds retransmit_timeout(std::uint32_t exponent) {
  return exponent == 0 ? kNever : Picoseconds{std::int64_t{4'096'000} << exponent};
}

// So many packets may be under way; at least one.
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
  bool withholds_next_verb = false;  // until the one before it is acknowledged, while it recovers from a loss
  std::uint64_t unacknowledged_packets_max = 0;  // of a reliable connection; 0 = no limit

  std::uint64_t cap_packets() const {
    return is_unreliable || unacknowledged_packets_max == 0 ? kNoWindow : unacknowledged_packets_max;
  }
};

struct RequesterCounters {
  Bytes retransmitted_bytes;  // sent again, or asked for again
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t naks = 0;  // and gaps in the responses to READs, which stand for one
  std::uint64_t timeouts = 0;
};

}  // namespace simulator
