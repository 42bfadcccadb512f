// HPCC: every packet returns the queue length and sent bytes of each port on its path. The sender computes how busy
// the busiest of them is, and sets its window so that this becomes eta.
// Source: Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, section 3 and algorithm 1. Increase and
// base round trip as in config/run.py of the repository alibaba-edu/High-Precision-Congestion-Control (9f4be2a).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "cc/controller.h"
#include "cc/parameters.h"

namespace simulator {

inline constexpr std::array kHpccParameters = {
    Parameter{"eta", 0.95, 0.01, 1, "target utilisation of the busiest link"},
    Parameter{"stages_max", 5, 0, 1e6, "increases in a row before the window follows the measurement"},
    Parameter{"base_rtt_ns", 13'000, 1, kNanosecondsMax, "round trip of the longest path without queues"},
    Parameter{"additive_increase_bps", 0, 0, kRateMax, "0: 10 Mb/s for each 25 Gb/s of the line rate"},
    Parameter{"expected_flows", 0, 0, 1e6,
              "above 0: the increase is 1 - eta of the line rate divided by this"},
    Parameter{"rate_min_bps", 100e6, 1, kRateMax, "the window stays above this times the base round trip"},
};

class Hpcc final : public Controller {
 public:
  Hpcc(const ParameterValues& values, BitsPerSecond line_rate)
      : line_bps_(static_cast<double>(line_rate.value)),
        eta_(values.at("eta")),
        stages_max_(static_cast<std::int64_t>(values.at("stages_max"))),
        base_rtt_s_(values.at("base_rtt_ns") / 1e9),
        window_max_bytes_(line_bps_ / 8 * base_rtt_s_),
        window_min_bytes_(
            std::min(window_max_bytes_, std::max(1.0, values.at("rate_min_bps") / 8 * base_rtt_s_))),
        increase_bytes_(increase_bps(values, line_bps_) / 8 * base_rtt_s_),
        window_bytes_(window_max_bytes_),
        reference_bytes_(window_max_bytes_) {}

  BitsPerSecond rate() const override {
    return {std::llround(std::min(line_bps_, window_bytes_ * 8 / base_rtt_s_))};
  }
  Bytes window() const override { return {std::llround(window_bytes_)}; }
  bool wants_acknowledgements() const override { return true; }
  bool wants_telemetry() const override { return true; }

  // The first acknowledgement only provides the values that differences start from.
  void on_acknowledgement(Picoseconds, const AckEvent& acknowledged) override {
    if (acknowledged.hops.empty()) return;
    const bool is_round_over = acknowledged.acknowledged_psn > round_ends_psn_;
    if (acknowledged.hops.size() == before_.size()) {
      measure(acknowledged);
      set_window(is_round_over);
    }
    before_.assign(acknowledged.hops.begin(), acknowledged.hops.end());
    if (is_round_over) round_ends_psn_ = acknowledged.sent_psn;
  }

  Metrics metrics(Picoseconds) const override {
    return {{"utilisation", utilisation_},
            {"reference_bytes", reference_bytes_},
            {"stage", static_cast<double>(stage_)}};
  }

 private:
  // Source of the increase by flows: Li et al., section 3.3 (W_AI = W_init (1 - eta) / N).
  static double increase_bps(const ParameterValues& values, double line_bps) {
    const double flows = values.at("expected_flows");
    const double given_bps = values.at("additive_increase_bps");
    if (flows > 0 && given_bps > 0) {
      throw ParameterError("hpcc", "additive_increase_bps or expected_flows", "both");
    }
    if (flows > 0) return line_bps * (1 - values.at("eta")) / flows;
    return given_bps > 0 ? given_bps : 10e6 * line_bps / 25e9;
  }

  // Folds the busiest link since the last acknowledgement into a moving average over a base round trip.
  void measure(const AckEvent& acknowledged) {
    double busiest = -1;
    double elapsed_s = 0;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const HopRecord& now = acknowledged.hops[i];
      const HopRecord& then = before_[i];
      const double since_s = static_cast<double>((now.left - then.left).value) / 1e12;
      if (since_s <= 0) continue;
      const double bytes_per_s = static_cast<double>(now.rate.value) / 8;
      const double sent = static_cast<double>((now.sent - then.sent).value) / since_s;
      const auto queue = static_cast<double>(std::min(now.queue, then.queue).value);
      const double busy = queue / (bytes_per_s * base_rtt_s_) + sent / bytes_per_s;
      if (busy <= busiest) continue;
      busiest = busy;
      elapsed_s = since_s;
    }
    if (busiest < 0) return;
    const double weight = std::min(elapsed_s, base_rtt_s_) / base_rtt_s_;
    utilisation_ = (1 - weight) * utilisation_ + weight * busiest;
  }

  // Within a round trip it always starts from the same reference, so that acknowledgements of the
  // same window do not add up.
  void set_window(bool is_round_over) {
    const bool follows = utilisation_ >= eta_ || stage_ >= stages_max_;
    const double base = follows ? reference_bytes_ * eta_ / std::max(utilisation_, 1e-9) : reference_bytes_;
    window_bytes_ = std::clamp(base + increase_bytes_, window_min_bytes_, window_max_bytes_);
    if (!is_round_over) return;
    stage_ = follows ? 0 : stage_ + 1;
    reference_bytes_ = window_bytes_;
  }

  double line_bps_;
  double eta_;
  std::int64_t stages_max_;
  double base_rtt_s_;
  double window_max_bytes_;
  double window_min_bytes_;
  double increase_bytes_;

  double window_bytes_;
  double reference_bytes_;  // window at the last round trip's end
  double utilisation_ = 1;  // it begins at the line rate
  std::int64_t stage_ = 0;
  std::uint64_t round_ends_psn_ = 0;
  std::vector<HopRecord> before_;
};

inline constexpr ControlKind kHpcc =
    control<Hpcc>("hpcc", "HPCC: a window by what each port on the way reports", kHpccParameters);

}  // namespace simulator
