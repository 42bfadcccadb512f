// A rate limiter of the NIC: paces wire bytes on the NIC's oscillator, in steps, and acts with a lag.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace simulator {

class alignas(64) Limiter {
 public:
  // `second` is the true length of one second of the NIC's oscillator.
  explicit Limiter(double second) : second_(second) {}

  bool is_limited() const { return is_limited_; }
  bool is_pending() const { return is_pending_; }

  // The line's rate over the limiter's.
  double slowness(double line_ps_per_byte) const {
    return is_limited() ? ps_per_byte_ / line_ps_per_byte : 1.0;
  }

  // So many wire bytes leave without gaps in between; their gaps come after them. 0: each packet has its own.
  void set_burst(Bytes burst) { burst_ = burst; }

  // Takes a new rate (0 = no limit) that acts after `lag` further wire bytes. The latest request wins.
  void set_rate(BitsPerSecond rate, Bytes lag, Picoseconds now) {
    pending_ps_per_byte_ = rate.value == 0 ? 0.0 : picoseconds_per_byte(rate) * second_;
    lag_left_ = lag;
    is_pending_ = true;
    if (lag.value > 0) return;
    apply();
    eligible_ = std::max(now, last_eligible_ + last_gap_);
  }

  // Books a packet that might have started at `eligible` and did start at `start`. A packet that had to wait
  // for the port is not punished for it (the gap counts from `eligible`), but at most one packet is caught
  // up. Returns true if a pending rate acts from now on.
  bool on_sent(Picoseconds eligible, Picoseconds start, Bytes wire) {
    bool has_changed = false;
    if (is_pending_) [[unlikely]] {
      lag_left_ -= wire;
      has_changed = lag_left_.value <= 0;
      if (has_changed) apply();
    }
    if (burst_.value != 0) [[unlikely]] {
      on_burst(eligible, start, wire);
      return has_changed;
    }
    last_eligible_ = eligible;
    if (wire != last_wire_) set_last_wire(wire);
    if (is_limited()) eligible_ = std::max(eligible + last_gap_, start);
    return has_changed;
  }

  // When a queue pair that could send from `own` on, if it were not for this limiter, may send.
  Picoseconds earliest(Picoseconds own) const { return is_limited() ? std::max(own, eligible_) : own; }

  // The `own` instant of a queue pair after it sent a packet: without a limit it queues up again behind its
  // packet, so that queue pairs take turns.
  Picoseconds own_after(Picoseconds eligible, Picoseconds start, Picoseconds serialisation) const {
    return is_limited() ? start : std::max(eligible + serialisation, start);
  }

 private:
  // A burst counts as one large packet, which might have started when its first one might have.
  void on_burst(Picoseconds eligible, Picoseconds start, Bytes wire) {
    if (burst_sent_.value == 0) burst_eligible_ = eligible;
    burst_sent_ += wire;
    const bool is_over = burst_sent_ >= burst_;
    last_eligible_ = is_over ? burst_eligible_ : start;
    set_last_wire(is_over ? burst_sent_ : Bytes{});
    if (is_over) burst_sent_ = Bytes{};
    eligible_ = std::max(last_eligible_ + last_gap_, start);
  }

  void set_last_wire(Bytes wire) {
    last_wire_ = wire;
    last_gap_ = duration_of(wire, ps_per_byte_);
  }

  void apply() {
    ps_per_byte_ = pending_ps_per_byte_;
    is_limited_ = ps_per_byte_ != 0;
    is_pending_ = false;
    set_last_wire(last_wire_);
  }

  // Fields that every packet needs, in one cache line.
  Picoseconds eligible_;  // from then on the next packet may go; meaningless while there is no limit
  Picoseconds last_eligible_;
  Bytes last_wire_;
  Picoseconds last_gap_;  // after a packet of that size: kept, for most packets have the same
  Bytes burst_;
  bool is_limited_ = false;
  bool is_pending_ = false;
  double ps_per_byte_ = 0;  // true picoseconds; 0 = no limit
  double pending_ps_per_byte_ = 0;
  double second_;
  Bytes lag_left_;
  Bytes burst_sent_;  // of the current burst
  Picoseconds burst_eligible_;
};

// Requested rates are rounded up to the profile's step.
// Source: Linux mlx4 driver (rates are written in units of 100 Mb/s); docs/explanation/deviations.md, 8.
constexpr BitsPerSecond rounded_up(BitsPerSecond rate, BitsPerSecond step) {
  if (step.value == 0) return rate;
  return {(rate.value + step.value - 1) / step.value * step.value};
}

}  // namespace simulator
