// TIMELY, and Patched TIMELY.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "cc/controller.h"
#include "cc/parameters.h"

namespace simulator {

// TIMELY: the rate follows the gradient of the round-trip time. Short times raise it, very long ones cut it, and
// in between a growing time cuts it and any other raises it.
// Source: Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM 2015, section 4.

// Source of the values: Zhu, Ghobadi, Misra and Padhye, "ECN or delay: lessons learnt from analysis of DCQCN and
// TIMELY", CoNEXT 2016, section 4.1, as TIMELY recommends them; segment and increase of its section 4.2. The bounds
// of the rate are ours: a thousandth of the line rate is one increase at 10 Gb/s.
inline constexpr std::array kTimelyParameters = {
    Parameter{"segment_bytes", 16'000, 1, 1e9, "wire bytes from one sample to the next"},
    Parameter{"is_bursty", 1, 0, 1, "1: a segment leaves at the line rate; 0: every packet has its gap"},
    Parameter{"rtt_low_ns", 50'000, 1, kNanosecondsMax, "shorter times always raise the rate"},
    Parameter{"rtt_high_ns", 500'000, 1, kNanosecondsMax, "longer times always cut it"},
    Parameter{"rtt_unit_ns", 20'000, 1, kNanosecondsMax, "growth per sample that counts as a gradient of 1"},
    Parameter{"weight", 0.875, 1e-9, 1, "of the last difference of times"},
    Parameter{"beta", 0.8, 1e-9, 1, "strength of cuts"},
    Parameter{"additive_increase_bps", 10e6, 0, kRateMax, "once per sample"},
    Parameter{"hyper_after", 5, 1, 1e9, "samples in a row without growth before increases become larger"},
    Parameter{"hyper_factor", 5, 1, 1e9, "factor of those larger increases"},
    Parameter{"increases_when_level", 1, 0, 1, "0: a gradient of exactly 0 leaves the rate alone"},
    Parameter{"initial_rate_bps", 0, 0, kRateMax, "0: the largest rate"},
    Parameter{"rate_min_fraction", 0.001, 1e-9, 1, "least rate, of the line rate"},
    Parameter{"rate_max_fraction", 1, 1e-9, 1, "largest rate, of the line rate"},
};

// As the branch timely of the repository bobzhuyb/ns3-rdma (commit 123df9e) has it.
inline constexpr std::pair<std::string_view, double> kTimelyNs3RdmaChanges[] = {
    {"hyper_factor", 1},
    {"increases_when_level", 0},
    {"rate_min_fraction", 0.01},
    {"rate_max_fraction", 0.96},
};
inline constexpr auto kTimelyNs3RdmaParameters = changed(kTimelyParameters, kTimelyNs3RdmaChanges);

class Timely : public Controller {
 public:
  Timely(const ParameterValues& values, BitsPerSecond line_rate)
      : low_ns_(values.at("rtt_low_ns")),
        high_ns_(values.at("rtt_high_ns")),
        beta_(values.at("beta")),
        additive_bps_(values.at("additive_increase_bps")),
        unit_ns_(values.at("rtt_unit_ns")),
        weight_(values.at("weight")),
        hyper_after_(static_cast<std::int64_t>(values.at("hyper_after"))),
        hyper_factor_(values.at("hyper_factor")),
        increases_when_level_(values.at("increases_when_level") != 0),
        rate_max_bps_(static_cast<double>(line_rate.value) * values.at("rate_max_fraction")),
        rate_min_bps_(
            std::min(rate_max_bps_, static_cast<double>(line_rate.value) * values.at("rate_min_fraction"))),
        segments_({static_cast<std::int64_t>(values.at("segment_bytes"))}, line_rate),
        burst_{values.at("is_bursty") != 0 ? static_cast<std::int64_t>(values.at("segment_bytes")) : 0},
        rate_bps_(rate_max_bps_) {
    if (low_ns_ > high_ns_) {
      throw ParameterError("timely", "rtt_low_ns up to rtt_high_ns, " + number_text(high_ns_),
                           number_text(low_ns_));
    }
    const double initial_bps = values.at("initial_rate_bps");
    if (initial_bps > 0) rate_bps_ = std::clamp(initial_bps, rate_min_bps_, rate_max_bps_);
  }

  bool on_sent(Picoseconds now, Bytes wire) override {
    segments_.on_sent(now, wire);
    return false;
  }

  bool wants_acknowledgements() const override { return true; }
  void on_acknowledgement(Picoseconds now, const AckEvent& acknowledged) override {
    if (const std::optional<Picoseconds> time = segments_.on_acknowledgement(now, acknowledged))
      on_sample(*time);
  }

  BitsPerSecond rate() const override { return {std::llround(rate_bps_)}; }
  Bytes burst() const override { return burst_; }

  Metrics metrics(Picoseconds) const override {
    return {
        {"rtt_ns", rtt_ns_.value_or(0)}, {"gradient", gradient()}, {"streak", static_cast<double>(streak_)}};
  }

 protected:
  double gradient() const { return difference_ns_ / unit_ns_; }

  // The new rate while the time lies between the thresholds.
  virtual double between_thresholds(double rate_bps, double) {
    const double slope = gradient();
    if (slope > 0) {
      streak_ = 0;
      return rate_bps * (1 - beta_ * slope);
    }
    if (slope == 0 && !increases_when_level_) return rate_bps;
    ++streak_;
    return rate_bps + (streak_ >= hyper_after_ ? hyper_factor_ : 1) * additive_bps_;
  }

  double low_ns_;
  double high_ns_;
  double beta_;
  double additive_bps_;

 private:
  // The first sample only provides the value that differences start from.
  void on_sample(Picoseconds time) {
    const double rtt_ns = static_cast<double>(time.value) / kPicosecondsPerNanosecond;
    const std::optional<double> before_ns = std::exchange(rtt_ns_, rtt_ns);
    if (!before_ns) return;
    difference_ns_ = (1 - weight_) * difference_ns_ + weight_ * (rtt_ns - *before_ns);
    rate_bps_ = std::clamp(next_rate(rtt_ns), rate_min_bps_, rate_max_bps_);
  }

  double next_rate(double rtt_ns) {
    if (rtt_ns >= low_ns_ && rtt_ns <= high_ns_) return between_thresholds(rate_bps_, rtt_ns);
    streak_ = 0;
    if (rtt_ns < low_ns_) return rate_bps_ + additive_bps_;
    return rate_bps_ * (1 - beta_ * (1 - high_ns_ / rtt_ns));
  }

  double unit_ns_;
  double weight_;
  std::int64_t hyper_after_;
  double hyper_factor_;
  bool increases_when_level_;
  double rate_max_bps_;
  double rate_min_bps_;
  Segments segments_;
  Bytes burst_;

  double rate_bps_;
  std::optional<double> rtt_ns_{};  // the last sample
  double difference_ns_ = 0;        // moving average from sample to sample
  std::int64_t streak_ = 0;         // increases in a row between the thresholds
};

inline constexpr ControlKind kTimely =
    control<Timely>("timely", "TIMELY as its authors' text has it, in bursts", kTimelyParameters);
inline constexpr ControlKind kTimelyNs3Rdma =
    control<Timely>("timely-ns3-rdma", "TIMELY as the simulator ns3-rdma has it", kTimelyNs3RdmaParameters);

// TIMELY with the repair that gives it a single resting point: between the thresholds the gradient only says how
// much of an increase and how much of a cut is taken, and the cut grows with the time itself.
// Source: Zhu, Ghobadi, Misra and Padhye, "ECN or delay: lessons learnt from analysis of DCQCN and TIMELY", CoNEXT
// 2016, section 4.3.
inline constexpr std::pair<std::string_view, double> kTimelyPatchedChanges[] = {
    {"beta", 0.008},
    {"is_bursty", 0},
};
inline constexpr auto kTimelyPatchedParameters = changed(kTimelyParameters, kTimelyPatchedChanges);

class TimelyPatched final : public Timely {
 public:
  using Timely::Timely;

 private:
  double between_thresholds(double rate_bps, double rtt_ns) override {
    const double weight = std::clamp(2 * gradient() + 0.5, 0.0, 1.0);
    const double error = (rtt_ns - low_ns_) / low_ns_;
    return additive_bps_ * (1 - weight) + rate_bps * (1 - beta_ * weight * error);
  }
};

inline constexpr ControlKind kTimelyPatched = control<TimelyPatched>(
    "timely-patched", "TIMELY with the repair of \"ECN or delay\"", kTimelyPatchedParameters);

}  // namespace simulator
