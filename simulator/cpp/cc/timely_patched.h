// TIMELY with the repair that gives it a single resting point: between the thresholds the gradient only says how
// much of an increase and how much of a cut is taken, and the cut grows with the time itself.
// Source: Zhu, Ghobadi, Misra and Padhye, "ECN or delay: lessons learnt from analysis of DCQCN and TIMELY", CoNEXT
// 2016, section 4.3.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "cc/control.h"
#include "cc/timely.h"

namespace simulator {

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

inline constexpr Control kTimelyPatched = control<TimelyPatched>(
    "timely-patched", "TIMELY with the repair of \"ECN or delay\"", kTimelyPatchedParameters);

}  // namespace simulator
