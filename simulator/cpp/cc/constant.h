// No control at all: a rate and a window that never change. It only measures. For comparison, and for tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "cc/controller.h"
#include "cc/parameters.h"

namespace simulator {

inline constexpr std::array kConstantParameters = {
    Parameter{"rate_bps", 1e15, 1, 1e15, "of wire bytes; from the line rate on there is no limit"},
    Parameter{"window_bytes", 1e15, 1, 1e15, "largest payload in flight"},
};

class Constant final : public Controller {
 public:
  Constant(const ParameterValues& values, BitsPerSecond line_rate)
      : rate_{std::min(static_cast<std::int64_t>(values.at("rate_bps")), line_rate.value)},
        window_{static_cast<std::int64_t>(values.at("window_bytes"))} {}

  BitsPerSecond rate() const override { return rate_; }
  Bytes window() const override { return window_; }
  bool wants_acknowledgements() const override { return true; }

  void on_acknowledgement(Picoseconds now, const AckEvent& acknowledged) override {
    ++acknowledgements_;
    marked_acknowledgements_ += acknowledged.is_marked;
    in_flight_packets_max_ =
        std::max(in_flight_packets_max_, acknowledged.sent_psn - acknowledged.acknowledged_psn);
    if (acknowledged.sent == kNever) return;
    round_trip_ = now - acknowledged.sent;
    round_trip_min_ = std::min(round_trip_min_, round_trip_);
  }

  Metrics metrics(Picoseconds) const override {
    return {{"acknowledgements", static_cast<double>(acknowledgements_)},
            {"marked_acknowledgements", static_cast<double>(marked_acknowledgements_)},
            {"in_flight_packets_max", static_cast<double>(in_flight_packets_max_)},
            {"round_trip_ps", static_cast<double>(round_trip_.value)},
            {"round_trip_min_ps", static_cast<double>(round_trip_min_.value)}};
  }

 private:
  BitsPerSecond rate_;
  Bytes window_;
  std::int64_t acknowledgements_ = 0;
  std::int64_t marked_acknowledgements_ = 0;
  std::uint64_t in_flight_packets_max_ = 0;
  Picoseconds round_trip_;
  Picoseconds round_trip_min_ = kNever;
};

inline constexpr ControlKind kConstant = control<Constant>(
    "constant", "a rate and a window that never change, for comparison", kConstantParameters);

}  // namespace simulator
