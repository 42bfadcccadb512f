// Swift: the window grows while the delay is below a target, and shrinks in proportion to what is above it, at most
// once per round trip. The target grows with the hops of the path, and while the window is small, which is while many
// flows share the port. Below one packet the window is a pause between packets.
// Source: Kumar et al., "Swift: delay is simple and effective for congestion control in the datacenter", SIGCOMM 2020,
// algorithm 1 and sections 3.2 (window), 3.4 (less than a packet) and 3.5 (target). The paper gives the least window
// and no other constant: these are those of csg-htsim's swift.cpp (841d9e7), which calls several of them guesses.
// Deviation: the delay is that of the fabric, from NIC to NIC, for hosts take no time here; so there is one window. An
// fast recovery is what the connection's reliability takes for a loss. Timeouts are not reported. A decrease is
// remembered when the window became smaller (line 27 says "or stayed", after which none would ever follow).
#pragma once

#include <rogue/nic_control.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

class Swift final : public rogue::NicControl {
 public:
  static constexpr bool wants_acknowledgements = true;

  Swift(const rogue::Parameters& parameters, const rogue::PathFacts& path)
      : NicControl(path),
        path_(path),
        fixed_ps_(1e3 * (parameters.at("base_target_ns") + path.hops * parameters.at("hop_ns"))),
        flow_range_ps_(1e3 * parameters.at("flow_range_ns")),
        flow_whole_(parameters.at("flow_whole") != 0),
        increase_packets_(parameters.at("additive_increase_packets")),
        beta_(parameters.at("beta")),
        decrease_max_(parameters.at("decrease_max")),
        cwnd_min_packets_(parameters.at("cwnd_min_packets")),
        cwnd_max_packets_(std::max(cwnd_min_packets_, parameters.at("cwnd_max_packets"))),
        cwnd_packets_(parameters.at("cwnd_initial_packets")),
        delay_ps_(static_cast<double>(path.base_rtt_ps)) {
    const double at_least = 1 / std::sqrt(parameters.at("flow_min_packets"));
    const double at_most = 1 / std::sqrt(parameters.at("flow_max_packets"));
    if (at_least > at_most) flow_alpha_ps_ = flow_range_ps_ / (at_least - at_most);
    flow_beta_ps_ = -flow_alpha_ps_ * at_most;
    set_window();
  }

  void on_acknowledgement(std::int64_t now_ps, const rogue::Acknowledgement& ack) override {
    const bool has_progress = ack.acknowledged_psn > acknowledged_psn_;
    const auto acknowledged =
        static_cast<double>(has_progress ? ack.acknowledged_psn - acknowledged_psn_ : 0);
    acknowledged_psn_ = std::max(acknowledged_psn_, ack.acknowledged_psn);
    if (ack.sent_ps != rogue::kNever)
      delay_ps_ = static_cast<double>(std::max(now_ps - ack.sent_ps, kLeastPs));
    if (ack.recoveries > recoveries_) {
      decrease(now_ps, decrease_max_);
    } else if (ack.sent_ps != rogue::kNever) {
      adjust_to_delay(now_ps, acknowledged);
    }
    recoveries_ = ack.recoveries;
    set_window();
  }

  rogue::Metrics metrics(std::int64_t) const override {
    return {{"cwnd_packets", cwnd_packets_},
            {"delay_ns", delay_ps_ / 1e3},
            {"target_delay_ns", target_ps() / 1e3}};
  }

 private:
  static constexpr std::int64_t kLeastPs = 1;

  // Algorithm 1, lines 4 to 14.
  void adjust_to_delay(std::int64_t now_ps, double acknowledged) {
    const double target = target_ps();
    if (delay_ps_ < target) {
      cwnd_packets_ += increase_packets_ * acknowledged / std::max(cwnd_packets_, 1.0);
    } else {
      decrease(now_ps, std::min(beta_ * (delay_ps_ - target) / delay_ps_, decrease_max_));
    }
  }

  void decrease(std::int64_t now_ps, double share) {
    if (has_decreased_ && static_cast<double>(now_ps - decreased_ps_) < delay_ps_) return;
    if (share <= 0) return;
    cwnd_packets_ *= 1 - share;
    has_decreased_ = true;
    decreased_ps_ = now_ps;
  }

  // Section 3.5.
  double target_ps() const {
    const double cwnd = flow_whole_ ? std::floor(cwnd_packets_) : cwnd_packets_;
    if (flow_alpha_ps_ == 0) return fixed_ps_;
    const double scaled = cwnd > 0 ? flow_alpha_ps_ / std::sqrt(cwnd) + flow_beta_ps_ : flow_range_ps_;
    return fixed_ps_ + std::clamp(scaled, 0.0, flow_range_ps_);
  }

  // From one packet on acknowledgements clock packets out; below that one leaves every rtt / cwnd (lines 25 to 32).
  void set_window() {
    cwnd_packets_ = std::clamp(cwnd_packets_, cwnd_min_packets_, cwnd_max_packets_);
    window_bytes = path_.mtu_bytes * static_cast<std::int64_t>(std::max(cwnd_packets_, 1.0));
    rate_bps = path_.line_rate_bps;
    if (cwnd_packets_ >= 1) return;
    const double paced_bps = 8e12 * static_cast<double>(path_.packet_bytes) * cwnd_packets_ / delay_ps_;
    if (paced_bps < static_cast<double>(rate_bps))
      rate_bps = std::max<std::int64_t>(1, std::llround(paced_bps));
  }

  rogue::PathFacts path_;
  double fixed_ps_;
  double flow_range_ps_;
  double flow_alpha_ps_ = 0;
  double flow_beta_ps_ = 0;
  bool flow_whole_;
  double increase_packets_;
  double beta_;
  double decrease_max_;
  double cwnd_min_packets_;
  double cwnd_max_packets_;

  double cwnd_packets_;
  double delay_ps_;
  std::int64_t decreased_ps_ = 0;
  bool has_decreased_ = false;
  std::uint64_t acknowledged_psn_ = 0;
  std::uint64_t recoveries_ = 0;
};

ROGUE_NIC_CONTROL(Swift, "swift", "Swift: a window by how far the delay is from a target",
                  {"base_target_ns", 20'000, 1, 1e9, "target delay of one flow, without hops"},
                  {"hop_ns", 3'053, 0, 1e9, "added to the target per switch on the path"},
                  {"flow_range_ns", 100'000, 0, 1e9, "largest addition for small windows"},
                  {"flow_min_packets", 0.1, 1e-6, 1e6, "window with the whole addition"},
                  {"flow_max_packets", 100, 1e-6, 1e6, "window from which on nothing is added"},
                  {"flow_whole", 0, 0, 1, "1: flow scaling uses the window in whole packets"},
                  {"additive_increase_packets", 1, 1e-9, 1e6, "growth of the window in a round trip"},
                  {"beta", 0.8, 0, 1, "strength of cuts"},
                  {"decrease_max", 0.5, 0, 1, "largest share of a cut"},
                  {"cwnd_initial_packets", 12, 1e-6, 1e6, "the first window"},
                  {"cwnd_min_packets", 0.001, 1e-6, 1, "the least window"},
                  {"cwnd_max_packets", 1'000, 1, 1e6, "the largest window"});
