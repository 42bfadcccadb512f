// A rate limiter of the NIC: paces wire bytes on the NIC's oscillator, in steps, and acts with a lag.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace simulator {

class Limiter {
 public:
  // `second` is the true length of one second of the NIC's oscillator.
  explicit Limiter(double second) : second_(second) {}

  bool is_limited() const { return ps_per_byte_ != 0; }
  bool is_pending() const { return is_pending_; }

  // Instant from which the limiter lets the next packet go; meaningless while it is not limited.
  Picoseconds eligible() const { return eligible_; }

  // Takes a new rate (0 = no limit) that acts after `lag` further wire bytes. The latest request wins.
  void set_rate(BitsPerSecond rate, Bytes lag, Picoseconds now) {
    pending_ps_per_byte_ = rate.value == 0 ? 0.0 : picoseconds_per_byte(rate) * second_;
    lag_left_ = lag;
    is_pending_ = true;
    if (lag.value > 0) return;
    apply();
    eligible_ = std::max(now, last_eligible_ + gap_after(last_wire_));
  }

  // Books a packet that became eligible at `eligible`, started at `start` and occupies the line for `serialisation`.
  // Returns the instant from which its queue pair may send again. A packet that had to wait for the port is not
  // punished for it (the gap counts from its eligibility), but at most one packet is caught up.
  Picoseconds on_sent(Picoseconds eligible, Picoseconds start, Bytes wire, Picoseconds serialisation) {
    if (is_pending_) {
      lag_left_ -= wire;
      if (lag_left_.value <= 0) apply();
    }
    last_eligible_ = eligible;
    last_wire_ = wire;
    const Picoseconds gap = is_limited() ? gap_after(wire) : serialisation;
    eligible_ = std::max(eligible + gap, start);
    return eligible_;
  }

 private:
  Picoseconds gap_after(Bytes wire) const { return duration_of(wire, ps_per_byte_); }

  void apply() {
    ps_per_byte_ = pending_ps_per_byte_;
    is_pending_ = false;
  }

  double ps_per_byte_ = 0;  // true picoseconds; 0 = no limit
  double pending_ps_per_byte_ = 0;
  double second_;
  Bytes lag_left_;
  Picoseconds eligible_;
  Picoseconds last_eligible_;
  Bytes last_wire_;
  bool is_pending_ = false;
};

// Requested rates are rounded up to the profile's step. Source: reference facts on mlx4 (100 Mb/s steps).
constexpr BitsPerSecond rounded_up(BitsPerSecond rate, BitsPerSecond step) {
  if (step.value == 0) return rate;
  return {(rate.value + step.value - 1) / step.value * step.value};
}

}  // namespace simulator
