// DCQCN: a CNP cuts the rate; a timer and a byte counter bring it back, first half-way to where it
// was, then beyond, then faster.
// Source: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/units.h"
#include "cc/controller.h"
#include "cc/parameters.h"

namespace simulator {

// As the authors' text has it. Source of the values: Zhu, Ghobadi, Misra and Padhye, "ECN or delay: lessons
// learnt from analysis of DCQCN and TIMELY", CoNEXT 2016, table 1; the hyper increase is that of the
// simulations of RoCC (CoNEXT 2020, repository danushkam/rocc), the least rate that of the repository
// bobzhuyb/ns3-rdma. The last switches are off.
inline constexpr std::array kDcqcnParameters = {
    Parameter{"g", 1.0 / 256, 1e-9, 1, "weight of the last CNP in alpha"},
    Parameter{"initial_alpha", 1, 0, 1, "estimate of congestion before the first CNP"},
    Parameter{"cnp_gap_ns", 50'000, 0, kNanosecondsMax, "least time between CNPs"},
    Parameter{"alpha_timer_ns", 55'000, 1, kNanosecondsMax, "alpha decays after this time without a CNP"},
    Parameter{"rate_timer_ns", 55'000, 1, kNanosecondsMax, "time from one increase to the next"},
    Parameter{"byte_counter_bytes", 10e6, 1, 1e15, "wire bytes from one increase to the next"},
    Parameter{"recoveries", 5, 0, 1000, "increases that go half-way to the target"},
    Parameter{"additive_increase_bps", 40e6, 0, kRateMax, "of the target, after the recoveries"},
    Parameter{"hyper_increase_bps", 400e6, 0, kRateMax, "of the target, when both have recovered"},
    Parameter{"rate_min_bps", 100e6, 1, kRateMax, "smallest rate"},
    Parameter{"clamps_target", 1, 0, 1, "1: every cut lowers the target; 0: only after an increase"},
    Parameter{"cuts_with_new_alpha", 0, 0, 1, "1: alpha includes the CNP before the cut"},
    Parameter{"reduces_far_target", 0, 0, 1, "1: the first increase divides a target above 10 x rate by 8"},
    Parameter{"halves_in_hyper", 0, 0, 1, "1: timer and byte counter run twice as fast in hyper increase"},
};

// As the repository bobzhuyb/ns3-rdma (commit e8a27d0) has it: code and configuration of its example.
inline constexpr std::pair<std::string_view, double> kDcqcnNs3RdmaChanges[] = {
    {"initial_alpha", 0.5},    {"rate_timer_ns", 60'000},     {"byte_counter_bytes", 300e6},
    {"recoveries", 4},         {"hyper_increase_bps", 200e6}, {"cuts_with_new_alpha", 1},
    {"reduces_far_target", 1}, {"halves_in_hyper", 1},
};
inline constexpr auto kDcqcnNs3RdmaParameters = changed(kDcqcnParameters, kDcqcnNs3RdmaChanges);

class Dcqcn final : public Controller {
 public:
  Dcqcn(const ParameterValues& values, BitsPerSecond line_rate)
      : line_bps_(static_cast<double>(line_rate.value)),
        g_(values.at("g")),
        cnp_gap_(nanoseconds(values.at("cnp_gap_ns"))),
        alpha_timer_(nanoseconds(values.at("alpha_timer_ns"))),
        rate_timer_(nanoseconds(values.at("rate_timer_ns"))),
        byte_counter_{static_cast<std::int64_t>(values.at("byte_counter_bytes"))},
        recoveries_(static_cast<std::int64_t>(values.at("recoveries"))),
        additive_bps_(values.at("additive_increase_bps")),
        hyper_bps_(values.at("hyper_increase_bps")),
        rate_min_bps_(std::min(values.at("rate_min_bps"), line_bps_)),
        clamps_target_(values.at("clamps_target") != 0),
        cuts_with_new_alpha_(values.at("cuts_with_new_alpha") != 0),
        reduces_far_target_(values.at("reduces_far_target") != 0),
        halves_in_hyper_(values.at("halves_in_hyper") != 0),
        rate_bps_(line_bps_),
        target_bps_(line_bps_),
        alpha_(values.at("initial_alpha")) {}

  // Target and rate fall, alpha rises, all counting starts again.
  void on_cnp(Picoseconds now) override {
    decay_alpha(now);
    if (clamps_target_ || stages() > 0) target_bps_ = rate_bps_;
    const double old_alpha = alpha_;
    alpha_ = (1 - g_) * alpha_ + g_;
    rate_bps_ = std::max(rate_min_bps_, rate_bps_ * (1 - (cuts_with_new_alpha_ ? alpha_ : old_alpha) / 2));
    time_stage_ = byte_stage_ = 0;
    sent_ = Bytes{};
    alpha_deadline_ = now + alpha_timer_;
    rate_deadline_ = now + rate_timer_;
  }

  bool on_sent(Picoseconds, Bytes wire) override {
    if (!is_limited()) return false;
    sent_ += wire;
    const Bytes enough{halved(byte_counter_.value)};
    if (sent_ < enough) [[likely]]
      return false;
    sent_ -= enough;
    ++byte_stage_;
    increase();
    return true;
  }

  Bytes unreported_max() const override {
    return is_limited() ? Bytes{halved(byte_counter_.value)} - sent_ : kEverything;
  }

  void on_timer(Picoseconds now) override {
    ++time_stage_;
    increase();
    if (is_limited()) rate_deadline_ = now + Picoseconds{halved(rate_timer_.value)};
  }

  Picoseconds deadline() const override { return rate_deadline_; }
  BitsPerSecond rate() const override { return {std::llround(rate_bps_)}; }
  Picoseconds cnp_gap() const override { return cnp_gap_; }

  Metrics metrics(Picoseconds now) const override {
    return {{"target_bps", target_bps_}, {"alpha", decayed_alpha(alpha_timers_until(now))}};
  }

 private:
  bool is_limited() const { return rate_bps_ < line_bps_; }
  std::int64_t stages() const { return time_stage_ + byte_stage_; }
  std::int64_t hyper_stages() const { return std::min(time_stage_, byte_stage_) - recoveries_; }
  std::int64_t halved(std::int64_t value) const {
    return halves_in_hyper_ && hyper_stages() > 0 ? std::max<std::int64_t>(1, value / 2) : value;
  }

  // Once for each full alpha timer without a CNP.
  void decay_alpha(Picoseconds now) {
    const std::int64_t times = alpha_timers_until(now);
    alpha_deadline_.value += times * alpha_timer_.value;
    alpha_ = decayed_alpha(times);
  }
  std::int64_t alpha_timers_until(Picoseconds now) const {
    return alpha_deadline_ > now ? 0 : 1 + (now - alpha_deadline_).value / alpha_timer_.value;
  }
  double decayed_alpha(std::int64_t times) const {
    double alpha = alpha_;
    double factor = 1 - g_;
    for (std::int64_t left = times; left != 0; left >>= 1, factor *= factor) {
      if ((left & 1) != 0) alpha *= factor;
    }
    return alpha;
  }

  // The stage has been counted already: it recovers in stages 1 to `recoveries`.
  void increase() {
    if (reduces_far_target_ && stages() == 1 && target_bps_ > 10 * rate_bps_) target_bps_ /= 8;
    if (hyper_stages() > 0) {
      target_bps_ += static_cast<double>(hyper_stages()) * hyper_bps_;
    } else if (std::max(time_stage_, byte_stage_) > recoveries_) {
      target_bps_ += additive_bps_;
    }
    target_bps_ = std::min(target_bps_, line_bps_);
    rate_bps_ = (target_bps_ + rate_bps_) / 2;
    if (line_bps_ - rate_bps_ >= 1) return;
    rate_bps_ = line_bps_;
    rate_deadline_ = kNever;
  }

  double line_bps_;
  double g_;
  Picoseconds cnp_gap_;
  Picoseconds alpha_timer_;
  Picoseconds rate_timer_;
  Bytes byte_counter_;
  std::int64_t recoveries_;
  double additive_bps_;
  double hyper_bps_;
  double rate_min_bps_;
  bool clamps_target_;
  bool cuts_with_new_alpha_;
  bool reduces_far_target_;
  bool halves_in_hyper_;

  double rate_bps_;
  double target_bps_;  // that the rate goes back to
  double alpha_;
  std::int64_t time_stage_ = 0;  // increases since the cut
  std::int64_t byte_stage_ = 0;
  Bytes sent_;  // towards the next one
  Picoseconds alpha_deadline_ = kNever;
  Picoseconds rate_deadline_ = kNever;
};

inline constexpr ControlKind kDcqcn =
    control<Dcqcn>("dcqcn", "DCQCN as its authors' text has it", kDcqcnParameters);
inline constexpr ControlKind kDcqcnNs3Rdma =
    control<Dcqcn>("dcqcn-ns3-rdma", "DCQCN as the simulator ns3-rdma has it", kDcqcnNs3RdmaParameters);

}  // namespace simulator
