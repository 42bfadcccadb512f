// Congestion control of TCP: how large the window is. It does no I/O and keeps no clock, and knows nothing of
// segments: the sender reports what was acknowledged, lost and marked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "base/units.h"

namespace simulator {

struct TcpProgress {
  Picoseconds now;
  Bytes acknowledged;           // for the first time, by the number alone
  bool is_echo = false;         // the acknowledgement carries ECE
  bool is_window_over = false;  // everything is acknowledged that had been sent when the last window was over
  bool may_grow = false;        // the window is in use, and no recovery or reduction is in progress
  Picoseconds round_trip = kNever;  // smoothed; kNever while there is none
};

class WindowControl {
 public:
  static constexpr bool kEchoesExactly = false;  // how the receiver echoes marks: see TcpEcho

  WindowControl(Bytes segment, Bytes initial_window) : segment_(segment), window_(initial_window) {}
  WindowControl(const WindowControl&) = delete;
  WindowControl& operator=(const WindowControl&) = delete;
  virtual ~WindowControl() = default;

  virtual void on_acknowledged(const TcpProgress& progress) = 0;

  // The first loss of a window, found by acknowledgements.
  virtual void on_loss(Bytes in_flight) = 0;

  // The first mark of a window.
  virtual void on_marked() = 0;

  // The retransmission timer fired; `is_first` if not for the same segment again.
  virtual void on_timeout(Bytes in_flight, bool is_first) = 0;

  // Nothing was sent for longer than a timeout. Source: RFC 5681, section 4.1 (restart window).
  virtual void on_idle(Bytes initial_window) { window_ = std::min(window_, initial_window); }

  // State by name with unit, for people and tests.
  virtual std::map<std::string, double> metrics() const { return {}; }

  Bytes window() const { return window_; }
  Bytes threshold() const { return threshold_; }
  Bytes segment() const { return segment_; }
  bool is_in_slow_start() const { return window_ < threshold_; }

 protected:
  // By what was acknowledged, but by no more than two segments at a time.
  // Source: RFC 5681, section 3.1; RFC 3465, section 2.2 (L = 2).
  void grow_in_slow_start(Bytes acknowledged) {
    window_ += std::min(acknowledged, Bytes{2 * segment_.value});
  }

  // By one segment per window. Source: RFC 5681, section 3.1; RFC 3465, section 2.1.
  void grow_linearly(Bytes acknowledged) {
    counted_ += acknowledged;
    if (counted_ < window_) return;
    counted_ -= window_;
    window_ += segment_;
  }

  void grow_like_reno(Bytes acknowledged) {
    if (is_in_slow_start()) return grow_in_slow_start(acknowledged);
    grow_linearly(acknowledged);
  }

  void grow_to(Bytes window) { window_ = window; }

  void reduce_to(Bytes window) {
    window_ = threshold_ = window;
    counted_ = {};
  }

  void restart_below(Bytes threshold, bool is_first) {
    if (is_first) threshold_ = threshold;
    window_ = segment_;
    counted_ = {};
  }

  Bytes at_least(std::int64_t segments, Bytes window) const {
    return std::max(window, Bytes{segments * segment_.value});
  }

 private:
  Bytes segment_;
  Bytes window_;
  Bytes threshold_{std::numeric_limits<std::int64_t>::max()};
  Bytes counted_;  // acknowledged towards the next segment of the window
};

}  // namespace simulator
