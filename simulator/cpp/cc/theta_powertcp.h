// PowerTCP without telemetry: computes power from the round-trip time and its gradient.
// Source: Addanki, Michel and Schmid, "PowerTCP: pushing the performance limits of datacenter networks", NSDI 2022,
// section 3.5 and algorithm 2. Defaults are PowerTCP's.
#pragma once

#include <rogue/nic_control.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

class ThetaPowerTcp final : public rogue::NicControl {
 public:
  static constexpr bool wants_acknowledgements = true;

  ThetaPowerTcp(const rogue::Parameters& parameters, const rogue::PathFacts& path)
      : NicControl(path),
        line_bps_(static_cast<double>(path.line_rate_bps)),
        gamma_(parameters.at("gamma")),
        base_rtt_s_(static_cast<double>(std::max<std::int64_t>(1, path.base_rtt_ps)) / 1e12),
        increase_(bytes(increase_bps(parameters.at("additive_increase_bps")))),
        cwnd_max_(std::max(1.0, bytes(line_bps_))),
        cwnd_min_(std::clamp(bytes(parameters.at("rate_min_bps")), 1.0, cwnd_max_)),
        cwnd_(cwnd_max_),
        cwnd_old_(cwnd_max_) {
    set_window();
  }

  // The first acknowledgement only provides the values that differences start from.
  void on_acknowledgement(std::int64_t now_ps, const rogue::Acknowledgement& ack) override {
    if (ack.sent_ps == rogue::kNever) return;
    const double rtt_s = static_cast<double>(now_ps - ack.sent_ps) / 1e12;
    const double since_s = static_cast<double>(now_ps - before_ps_) / 1e12;
    if (has_before_ && since_s > 0) measure(rtt_s, since_s);
    has_before_ = true;
    before_ps_ = now_ps;
    rtt_s_ = rtt_s;
    if (ack.acknowledged_psn <= round_ends_psn_) return;
    round_ends_psn_ = ack.sent_psn;
    cwnd_ = gamma_ * (cwnd_old_ / std::max(power_, 1e-9) + increase_) + (1 - gamma_) * cwnd_;
    cwnd_ = std::clamp(cwnd_, cwnd_min_, cwnd_max_);
    cwnd_old_ = cwnd_;
    set_window();
  }

  rogue::Metrics metrics(std::int64_t) const override {
    return {{"power", power_}, {"rtt_ns", rtt_s_ * 1e9}};
  }

 private:
  double bytes(double rate_bps) const { return rate_bps / 8 * base_rtt_s_; }
  double increase_bps(double given_bps) const { return given_bps > 0 ? given_bps : 150e6 * line_bps_ / 25e9; }

  // (d rtt/dt + 1) rtt / tau, tau being the base round-trip time, averaged over tau (lines 9 to 14).
  void measure(double rtt_s, double since_s) {
    const double gradient = (rtt_s - rtt_s_) / since_s;
    const double weight = std::min(since_s, base_rtt_s_) / base_rtt_s_;
    power_ = (1 - weight) * power_ + weight * std::max(0.0, (gradient + 1) * rtt_s / base_rtt_s_);
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
  double rtt_s_ = 0;  // the last one
  std::int64_t before_ps_ = 0;
  bool has_before_ = false;
  std::uint64_t round_ends_psn_ = 0;
};

ROGUE_NIC_CONTROL(ThetaPowerTcp, "theta-powertcp", "PowerTCP by round-trip times instead of telemetry",
                  {"gamma", 0.9, 1e-9, 1, "weight of the last measurement"},
                  {"additive_increase_bps", 0, 0, 1e13, "0: 150 Mb/s for each 25 Gb/s of the line rate"},
                  {"rate_min_bps", 100e6, 1, 1e13, "the window stays above this times the base round trip"});
