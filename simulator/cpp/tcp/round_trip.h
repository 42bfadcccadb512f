// Round trips and the timeout that follows from them. The clock has no granularity worth speaking of.
// Source: RFC 6298, section 2; Karn's rule is the caller's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace simulator {

class RoundTrip {
 public:
  // Before the first sample the timeout is its minimum: a connection begins as after a handshake, which has
  // measured a round trip far shorter than that. Deviation: RFC 6298 begins with one second.
  RoundTrip(Picoseconds minimum, Picoseconds maximum) : minimum_(minimum), maximum_(maximum) {}

  // srtt = 7/8 srtt + 1/8 r; rttvar = 3/4 rttvar + 1/4 |srtt - r|, with the old srtt.
  void add(Picoseconds sample) {
    if (!has_sample_) {
      has_sample_ = true;
      smoothed_ = sample;
      variation_ = {sample.value / 2};
    } else {
      const std::int64_t error = std::abs(smoothed_.value - sample.value);
      variation_.value += (error - variation_.value) / 4;
      smoothed_.value += (sample.value - smoothed_.value) / 8;
    }
    doublings_ = 0;
  }

  // srtt + 4 rttvar within its bounds, doubled at each timeout since the last sample.
  Picoseconds timeout() const {
    const Picoseconds measured = has_sample_ ? smoothed_ + Picoseconds{4 * variation_.value} : minimum_;
    std::int64_t value = std::clamp(measured, minimum_, maximum_).value;
    for (std::uint32_t n = 0; n < doublings_ && value < maximum_.value; ++n) value *= 2;
    return std::min(Picoseconds{value}, maximum_);
  }

  void on_timeout() { ++doublings_; }
  bool has_sample() const { return has_sample_; }
  Picoseconds smoothed() const { return smoothed_; }
  Picoseconds variation() const { return variation_; }

 private:
  Picoseconds minimum_;
  Picoseconds maximum_;
  Picoseconds smoothed_;
  Picoseconds variation_;
  std::uint32_t doublings_ = 0;
  bool has_sample_ = false;
};

}  // namespace simulator
