// Parameters of IRN and its ablations. Source: Mittal et al., "Revisiting network support for RDMA",
// SIGCOMM 2018, section 4.1; cap_packets: 120 KB in packets of 1 KiB payload, as in irn-vivado-hls;
// threshold_nacks: section 7, which proposes one for networks that reorder, and gives no number.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cc/parameters.h"
#include "protocol/requester_settings.h"
#include "reliability/irn_timer.h"

namespace simulator {

inline constexpr std::array kIrnParameters = {
    Parameter{"cap_packets", 111, 0, 1 << 22, "packets in flight, at most; 0 = no cap"},
    Parameter{"rto_low_ns", 100'000, 0, 1e12, "timeout while few packets are in flight; 0 = no timeouts"},
    Parameter{"rto_high_ns", 320'000, 0, 1e12, "timeout otherwise"},
    Parameter{"rto_low_packets", 3, 0, 1 << 22, "how many packets in flight are few"},
    Parameter{"threshold_nacks", 1, 1, 1 << 22, "NACKs without progress that begin a recovery"},
};

inline void check_timeouts(std::string_view kind, const ParameterValues& values) {
  const auto low = values.find("rto_low_ns");
  const auto high = values.find("rto_high_ns");
  if (low == values.end() || high == values.end() || low->second <= high->second) return;
  throw ParameterError(kind, "rto_low_ns not above rto_high_ns",
                       number_text(low->second) + " and " + number_text(high->second));
}

struct IrnSettings {
  explicit IrnSettings(const ParameterValues& values)
      : cap_packets(static_cast<std::uint64_t>(values.at("cap_packets"))),
        rto_low_ns(static_cast<std::int64_t>(values.at("rto_low_ns"))),
        rto_high_ns(static_cast<std::int64_t>(values.at("rto_high_ns"))),
        rto_low_packets(static_cast<std::uint64_t>(values.at("rto_low_packets"))) {}

  IrnTimer timer() const {
    const Picoseconds low = rto_low_ns == 0 ? kNever : Picoseconds{rto_low_ns * kPicosecondsPerNanosecond};
    return {low, Picoseconds{rto_high_ns * kPicosecondsPerNanosecond}, rto_low_packets};
  }

  std::uint64_t cap() const { return cap_packets == 0 ? kNoWindow : cap_packets; }

  std::uint64_t cap_packets;  // 0 = no cap
  std::int64_t rto_low_ns;
  std::int64_t rto_high_ns;
  std::uint64_t rto_low_packets;
};

}  // namespace simulator
