// IRN's retransmission timer: short while few packets are in flight, long otherwise. Source: Mittal et al.,
// "Revisiting network support for RDMA", SIGCOMM 2018, section 3.1; the authors' hardware model
// irn-vivado-hls (the short timer is stretched when it comes up, also for a slow queue pair).
#pragma once

#include <cstdint>

#include "base/units.h"

namespace simulator {

class IrnTimer {
 public:
  // With a slowness above this the short timer would come up too early. Source: irn-vivado-hls.
  static constexpr double kSlownessMax = 4;

  // `low` kNever: no timer at all.
  IrnTimer(Picoseconds low, Picoseconds high, std::uint64_t packets)
      : low_(low), high_(high), packets_(packets) {}

  Picoseconds deadline() const { return deadline_; }
  bool is_armed() const { return deadline_ != kNever; }
  void stop() { deadline_ = kNever; }

  void start(Picoseconds now) {
    if (low_ == kNever) return;
    started_ = now;
    deadline_ = now + low_;
  }

  // The deadline has come. Returns false if it was too early, and then waits on.
  bool has_expired(std::uint64_t packets_in_flight, double slowness) {
    const Picoseconds high = started_ + high_;
    if (deadline_ >= high || (packets_in_flight <= packets_ && slowness <= kSlownessMax)) return true;
    deadline_ = high;
    return false;
  }

 private:
  Picoseconds low_;
  Picoseconds high_;
  std::uint64_t packets_;
  Picoseconds started_;
  Picoseconds deadline_ = kNever;
};

}  // namespace simulator
