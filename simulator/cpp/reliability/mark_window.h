// A window that follows marks alone, packet by packet: what comes unmarked adds a packet per window, a marked one
// takes a quarter of itself away. Source: MP-RDMA (Lu et al., "Multi-path transport for RDMA in datacenters", NSDI
// 2018) as REPS' artifact has it (commit b751588, uec.cpp: updateCwndOnAck_MPRDMA, updateCwndOnNack_MPRDMA,
// mark_packet_for_retransmission). Deviation: MP-RDMA takes half a packet for a mark; docs/DEVIATIONS.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "reliability/send_window.h"
#include "reliability/uet_settings.h"

namespace simulator {

class MarkWindow final : public SendWindow {
 public:
  static constexpr std::int64_t kMarkedShare = 4;

  explicit MarkWindow(const UetSettings& settings)
      : settings_(settings),
        base_rtt_(settings.base_rtt),
        window_max_(settings.most_of_path(settings.base_rtt).value),
        window_(settings.window_packets == 0 ? window_max_
                                             : settings.window_packets * settings.frame().value) {}

  Bytes window() const override { return {window_}; }
  Picoseconds base_rtt() const override { return base_rtt_; }

  void on_acknowledged(Bytes received, std::optional<Picoseconds> rtt, bool is_marked, Bytes /*in_flight*/,
                       Picoseconds /*now*/) override {
    if (rtt && *rtt < base_rtt_) {
      base_rtt_ = *rtt;
      window_max_ = settings_.most_of_path(*rtt).value;
    }
    if (is_marked) {
      take(received.value / kMarkedShare);
    } else {
      window_ = std::min(window_ + received.value * settings_.frame().value / window_, window_max_);
    }
  }

  void on_trimmed(Bytes frame, Picoseconds /*rtt*/, bool /*is_left_to_credits*/, Bytes /*in_flight*/,
                  Picoseconds /*now*/) override {
    take(frame.value);
  }
  void on_timeout(Bytes frame) override { take(frame.value); }

 private:
  void take(std::int64_t bytes) { window_ = std::max(window_ - bytes, settings_.frame().value); }

  const UetSettings& settings_;  // of the requester that has this window
  Picoseconds base_rtt_;         // the shortest seen
  std::int64_t window_max_;
  std::int64_t window_;
};

}  // namespace simulator
