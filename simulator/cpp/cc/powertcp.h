// PowerTCP: every packet returns the queue length and sent bytes of each port on its path. The power of a port is the
// rate at which bytes arrive times all bytes in flight to it. Power over the power of a port that is just full gives
// the factor by which all windows together are too large.
// Source: Addanki, Michel and Schmid, "PowerTCP: pushing the performance limits of datacenter networks", NSDI 2022,
// algorithm 1, section 3.3 (gamma) and theorem 1. Increase and least rate are those of its authors' simulations
// (inet-tub/ns3-datacenter, 6ddb4a4: rdma-hw.cc, config-burst.txt), where hosts have 25 Gb/s; the paper divides by the
// expected number of flows and gives no number.
// Deviation: line 20 compares power with normalized power; we take the largest normalized power.
#pragma once

#include <rogue/nic_control.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

class PowerTcp final : public rogue::NicControl {
 public:
  static constexpr bool wants_telemetry = true;

  PowerTcp(const rogue::Parameters& parameters, const rogue::PathFacts& path)
      : NicControl(path),
        line_bps_(static_cast<double>(path.line_rate_bps)),
        gamma_(parameters.at("gamma")),
        base_rtt_s_(parameters.at("base_rtt_ns") > 0 ? parameters.at("base_rtt_ns") / 1e9
                                                     : static_cast<double>(path.base_rtt_ps) / 1e12),
        increase_(bytes(increase_bps(parameters.at("additive_increase_bps")))),
        cwnd_max_(std::max(1.0, bytes(line_bps_))),
        cwnd_min_(std::clamp(bytes(parameters.at("rate_min_bps")), 1.0, cwnd_max_)),
        cwnd_(cwnd_max_),
        cwnd_old_(cwnd_max_) {
    set_window();
  }

  // The first acknowledgement only provides the values that differences start from.
  void on_acknowledgement(std::int64_t, const rogue::Acknowledgement& ack) override {
    if (ack.hops.empty()) return;
    if (ack.hops.size() == before_.size() && measure(ack.hops)) {
      const double followed = cwnd_old_ / std::max(power_, 1e-9) + increase_;
      cwnd_ = std::clamp(gamma_ * followed + (1 - gamma_) * cwnd_, cwnd_min_, cwnd_max_);
      set_window();
    }
    before_.assign(ack.hops.begin(), ack.hops.end());
    if (ack.acknowledged_psn <= round_ends_psn_) return;
    round_ends_psn_ = ack.sent_psn;
    cwnd_old_ = cwnd_;
  }

  rogue::Metrics metrics(std::int64_t) const override {
    return {{"power", power_}, {"cwnd_old_bytes", cwnd_old_}};
  }

 private:
  double bytes(double rate_bps) const { return rate_bps / 8 * base_rtt_s_; }
  double increase_bps(double given_bps) const { return given_bps > 0 ? given_bps : 150e6 * line_bps_ / 25e9; }

  // Folds the largest normalized power of a port into its average over a base round trip (lines 8 to 25).
  bool measure(std::span<const rogue::Hop> hops) {
    double largest = -1;
    double elapsed_s = 0;
    for (std::size_t index = 0; index < hops.size(); ++index) {
      const double since_s = static_cast<double>(hops[index].left_ps - before_[index].left_ps) / 1e12;
      if (since_s <= 0) continue;
      const double power = normalized(hops[index], before_[index], since_s);
      if (power <= largest) continue;
      largest = power;
      elapsed_s = std::min(since_s, base_rtt_s_);
    }
    if (largest < 0) return false;
    const double weight = elapsed_s / base_rtt_s_;
    power_ = (1 - weight) * power_ + weight * largest;
    return true;
  }

  // (dq/dt + tx) (q + b tau) / (b^2 tau), in bytes.
  double normalized(const rogue::Hop& now, const rogue::Hop& then, double since_s) const {
    const double bandwidth = static_cast<double>(now.rate_bps) / 8;
    const auto came =
        static_cast<double>(now.queue_bytes - then.queue_bytes + now.sent_bytes - then.sent_bytes);
    const double current = came / since_s;
    const double voltage = static_cast<double>(now.queue_bytes) + bandwidth * base_rtt_s_;
    return std::max(0.0, current * voltage / (bandwidth * bandwidth * base_rtt_s_));
  }

  void set_window() {
    window_bytes = std::max<std::int64_t>(1, std::llround(cwnd_));
    rate_bps = std::max<std::int64_t>(1, std::llround(std::min(line_bps_, cwnd_ * 8 / base_rtt_s_)));
  }

  double line_bps_;
  double gamma_;
  double base_rtt_s_;
  double increase_;
  double cwnd_max_;
  double cwnd_min_;

  double cwnd_;
  double cwnd_old_;   // at the last round trip's end
  double power_ = 1;  // it begins at the line's rate
  std::uint64_t round_ends_psn_ = 0;
  std::vector<rogue::Hop> before_;
};

ROGUE_NIC_CONTROL(PowerTcp, "powertcp", "PowerTCP: a window by the power that each port on the way reports",
                  {"gamma", 0.9, 1e-9, 1, "weight of the last measurement"},
                  {"base_rtt_ns", 0, 0, 1e9, "round trip of the longest path without queues; 0: of its path"},
                  {"additive_increase_bps", 0, 0, 1e13, "0: 150 Mb/s for each 25 Gb/s of the line rate"},
                  {"rate_min_bps", 100e6, 1, 1e13, "the window stays above this times the base round trip"});
