// Network-signalled congestion control of Ultra Ethernet: a window in bytes of frames, by the delay and the mark
// that an acknowledgement brings. It keeps no clock. Source: Ultra Ethernet specification 1.0, congestion
// management (NSCC); where it leaves a choice, and for all numbers, uet-htsim's uec.cpp (commit 40ccb05:
// initNsccParams, updateCwndOnAck_NSCC, updateCwndOnNack_NSCC, quick_adapt, fulfill_adjustment).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "reliability/uet_settings.h"

namespace simulator {

class Nscc final : public SendWindow {
 public:
  // Reference of all gains: the bytes of 12 us at 100 Gb/s (_reference_network_bdp).
  static constexpr double kReferenceBytes = 150'000;
  static constexpr double kReferencePs = 12e6;

  explicit Nscc(const UetSettings& settings)
      : settings_(settings),
        base_rtt_(settings.base_rtt),
        target_(static_cast<double>(settings.target_delay.value)),
        scale_(settings.bytes_in(settings.base_rtt) / kReferenceBytes),
        window_max_(settings.path_window(settings.base_rtt).value) {
    const std::int64_t stated = settings.window_packets * settings.frame().value;
    window_ = stated == 0 ? window_max_ : stated;
    if (settings.has_nscc) keep_in_bounds();
  }

  Bytes window() const override { return {window_}; }
  Picoseconds base_rtt() const override { return base_rtt_; }
  double average_delay_ps() const override { return average_delay_; }

  void on_acknowledged(Bytes received, std::optional<Picoseconds> rtt, bool is_marked, Bytes in_flight,
                       Picoseconds now) override {
    if (!settings_.has_nscc) return;
    achieved_ += received.value;
    received_ += received.value;
    ignored_ += received.value;
    const double delay = rtt ? delay_of(*rtt, is_marked) : average_delay_;
    if (adapts_quickly(false, is_marked, delay, in_flight, now)) return;
    change(received, delay, is_marked, now);
    keep_in_bounds();
    if (received_ > kAdjustPackets * settings_.frame().value || now - last_adjusted_ > settings_.base_rtt)
      adjust(now);
    keep_in_bounds();
  }

  void on_trimmed(Bytes frame, Picoseconds rtt, bool is_left_to_credits, Bytes in_flight,
                  Picoseconds now) override {
    if (!settings_.has_nscc) return;
    lower_base_rtt(rtt);
    ignored_ += frame.value;
    learn_delay(static_cast<double>(settings_.base_rtt.value), true);  // as if it had waited a base RTT
    must_adapt_ = true;
    if (adapts_quickly(true, true, 0, in_flight, now) || is_left_to_credits) return;
    window_ -= frame.value;
    keep_in_bounds();
  }

  void on_timeout(Bytes frame) override {
    if (!settings_.has_nscc) return;
    window_ = std::max(window_ - frame.value, settings_.frame().value);
  }

 private:
  static constexpr double kDelayWeight = 0.0125;     // _delay_alpha
  static constexpr double kProportional = 4;         // of _alpha, in packets
  static constexpr double kFair = 5;                 // of _fi, in packets
  static constexpr double kAlways = 0.15;            // _eta, in packets
  static constexpr double kFast = 0.25;              // _fi_scale
  static constexpr double kFastBelowPs = 1e6;        // a delay of next to nothing
  static constexpr double kDecreaseMax = 0.5;        // _max_md_jump
  static constexpr double kQuickAboveTargets = 4;    // _qa_threshold
  static constexpr std::int64_t kAdjustPackets = 8;  // _adjust_bytes_threshold

  void keep_in_bounds() { window_ = std::max(std::min(window_, window_max_), settings_.frame().value); }

  // A round trip that was shorter than any: the path is shorter than was thought (update_base_rtt).
  void lower_base_rtt(Picoseconds rtt) {
    if (rtt >= base_rtt_) return;
    base_rtt_ = rtt;
    window_max_ = settings_.path_window(rtt).value;
  }

  double delay_of(Picoseconds rtt, bool is_marked) {
    lower_base_rtt(rtt);
    const auto delay = static_cast<double>((rtt - base_rtt_).value);
    learn_delay(delay, is_marked);
    return delay;
  }

  // The average of delays. What is delayed but not marked counts as a quarter of a round trip (update_delay).
  void learn_delay(double delay, bool is_marked) {
    const double sample = !is_marked && delay > target_ ? static_cast<double>(base_rtt_.value) / 4 : delay;
    average_delay_ = kDelayWeight * sample + (1 - kDelayWeight) * average_delay_;
  }

  // Quick adapt: at the end of a period in which little came, while something is wrong, the window becomes what
  // came. Then marks of what was in flight are ignored. Returns whether nothing else is to be done.
  bool adapts_quickly(bool is_loss, bool is_marked, double delay, Bytes in_flight, Picoseconds now) {
    bool is_over = ignored_ < to_ignore_ && is_marked;
    if (!is_over && now > period_end_) {
      const bool is_wrong = must_adapt_ || is_loss || delay > kQuickAboveTargets * target_;
      if (period_end_.value != 0 && is_wrong && achieved_ < window_max_ >> settings_.qa_gate) {
        window_ = std::max(achieved_, settings_.frame().value);
        to_ignore_ = in_flight.value;
        ignored_ = 0;
        must_adapt_ = false;
        is_over = true;
      }
      achieved_ = 0;
      period_end_ = now + base_rtt_ + settings_.target_delay;
    }
    if (is_over) increase_ = received_ = 0;
    return is_over;
  }

  // The four cases of mark and delay.
  void change(Bytes received, double delay, bool is_marked, Picoseconds now) {
    const auto bytes = static_cast<double>(received.value);
    const auto payload = static_cast<double>(settings_.payload.value);
    if (is_marked) {
      if (delay >= target_) decrease(now);
    } else if (delay >= target_) {
      add_increase(kFair * payload * scale_ * bytes);
    } else if (!increases_fast(received.value, delay)) {
      add_increase(kProportional * payload * scale_ * target_ / kReferencePs * bytes * (1 - delay / target_));
    }
  }

  void add_increase(double increase) { increase_ += static_cast<std::int64_t>(increase); }

  // After a whole window without delay a quarter of what comes is added at once, until there is some.
  bool increases_fast(std::int64_t received, double delay) {
    undelayed_ = delay < kFastBelowPs ? undelayed_ + received : 0;
    is_fast_ = delay < kFastBelowPs && (undelayed_ > window_ || is_fast_);
    if (is_fast_) window_ += static_cast<std::int64_t>(static_cast<double>(received) * kFast * scale_);
    return is_fast_;
  }

  // Once per round trip, in proportion to what the average exceeds the target by.
  void decrease(Picoseconds now) {
    is_fast_ = false;
    undelayed_ = 0;
    if (average_delay_ <= target_ || now - last_decreased_ <= base_rtt_) return;
    const double factor = 1 - settings_.gamma * (average_delay_ - target_) / average_delay_;
    window_ = static_cast<std::int64_t>(static_cast<double>(window_) * std::max(factor, kDecreaseMax));
    window_ = std::max(window_, settings_.frame().value);
    last_decreased_ = now;
  }

  // Puts into effect what increases have gathered, and adds a little once per round trip of the network.
  void adjust(Picoseconds now) {
    window_ += increase_ / window_;
    if (now - last_adjusted_ >= settings_.base_rtt) {
      window_ += static_cast<std::int64_t>(kAlways * static_cast<double>(settings_.payload.value) * scale_);
      last_adjusted_ = now;
    }
    increase_ = received_ = 0;
  }

  const UetSettings& settings_;  // of the requester that has this window
  Picoseconds base_rtt_;         // the shortest seen
  double target_;                // picoseconds
  double scale_;                 // the path's bytes over those of the reference
  std::int64_t window_max_;
  std::int64_t window_ = 0;
  double average_delay_ = 0;
  std::int64_t increase_ = 0;   // bytes x bytes, still to be put into effect
  std::int64_t received_ = 0;   // since then
  std::int64_t undelayed_ = 0;  // bytes in a row that met no queue
  bool is_fast_ = false;
  Picoseconds last_adjusted_;
  Picoseconds last_decreased_;
  std::int64_t achieved_ = 0;  // bytes in this period of quick adapt
  Picoseconds period_end_;
  bool must_adapt_ = false;   // by a trimmed packet
  std::int64_t ignored_ = 0;  // since the last quick adapt
  std::int64_t to_ignore_ = 0;
};

}  // namespace simulator
