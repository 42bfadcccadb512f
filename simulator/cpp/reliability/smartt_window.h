// The window of SMaRTT, and the fraction of marked packets that it follows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "reliability/uet_settings.h"

namespace simulator {

// SMaRTT's window, of which NSCC was made: by the mark and the delay of each acknowledgement, quick adapt when
// something was trimmed, and a fast increase after a window that met no queue. Source: Bonato et al., "SMaRTT"
// (arXiv 2404.01630), as its authors' simulator has it (spcl/HTSIM-old, commit 6b0d460, uec.cpp: adjust_window with
// delayB, do_fast_drop, fast_increase, processNack, apply_timeout_penalty). Deviation: docs/explanation/deviations.md.
class SmarttWindow final : public SendWindow {
 public:
  explicit SmarttWindow(const UetSettings& settings)
      : frame_(settings.frame().value),
        path_(std::max(frame_, static_cast<std::int64_t>(settings.bytes_in(settings.base_rtt)))),
        base_rtt_(settings.base_rtt),
        target_(settings.base_rtt + settings.target_delay),
        unqueued_{settings.base_rtt.value +
                  kUnqueuedFrames * frame_ * 8 * kPicosecondsPerSecond / settings.line_rate.value},
        fast_(kFastFrames * static_cast<double>(settings.line_rate.value) / kFastRate),
        fair_max_(settings.fair_gain),
        fair_(settings.fair_gain),
        delay_gain_(settings.delay_gain),
        window_(settings.window_packets == 0 ? path_ : settings.window_packets * frame_),
        window_before_(window_) {}

  Bytes window() const override { return {window_}; }
  Picoseconds base_rtt() const override { return base_rtt_; }

  void on_acknowledged(Bytes received, std::optional<Picoseconds> sample, bool is_marked, Bytes in_flight,
                       Picoseconds now) override {
    const Picoseconds rtt = sample.value_or(base_rtt_);
    since_adapt_ += received.value;
    note_queue(received.value, rtt <= unqueued_ && !is_marked);
    if (since_adapt_ >= ignored_) adapt(false, in_flight, now);
    if (since_adapt_ >= ignored_ || !is_marked) {
      change(static_cast<double>(received.value), rtt, is_marked);
      keep_in_bounds();
    }
    achieved_ += received.value;
  }

  void on_trimmed(Bytes frame, Picoseconds /*rtt*/, bool /*is_left_to_credits*/, Bytes in_flight,
                  Picoseconds now) override {
    since_adapt_ += frame.value;
    achieved_ += kHeader;
    if (since_adapt_ < ignored_) return;
    must_adapt_ = true;
    adapt(true, in_flight, now);
    if (since_adapt_ > ignored_)
      window_ -= static_cast<std::int64_t>(static_cast<double>(frame.value) * kTrimmed);
    keep_in_bounds();
  }

  void on_timeout(Bytes /*frame*/) override { window_ = frame_; }

 private:
  static constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;
  // A round trip that is longer by this has met a queue.
  static constexpr std::int64_t kUnqueuedFrames = 3;
  static constexpr std::int64_t kHeader = 64;  // what came of a trimmed packet
  static constexpr double kFastFrames = 4;     // added per frame and 100 Gb/s
  static constexpr double kFastRate = 100e9;
  static constexpr double kFairDecrease = 0.8;  // z_gain
  static constexpr double kDelayDecrease = 2;   // w_gain
  static constexpr double kAdapted = 0.8;       // bonus_drop, of what came
  static constexpr double kIgnored = 1.25;      // of what is in flight
  static constexpr double kTrimmed = 0.5;       // of a frame
  // All senders of a path together add no more of it per round trip.
  static constexpr double kFairOfPath = 1.0 / 5.0;

  void keep_in_bounds() { window_ = std::max(std::min(window_, path_), frame_); }

  void note_queue(std::int64_t received, bool met_none) {
    unqueued_bytes_ = met_none ? unqueued_bytes_ + received : 0;
    if (met_none) return;
    window_before_ = window_;
    is_fast_ = false;
  }

  // At the end of a period in which something was trimmed the window becomes what came in it, and what is in flight
  // is no news.
  void adapt(bool is_trimmed, Bytes in_flight, Picoseconds now) {
    if (now < period_end_) return;
    const Picoseconds before = period_end_;
    const auto came = static_cast<double>(achieved_);
    achieved_ = 0;
    period_end_ = now + target_;
    if (before.value == 0 || (!is_trimmed && !must_adapt_)) return;
    const auto target = static_cast<double>(target_.value);
    const double share = target / (static_cast<double>((now - before).value) + target);
    window_ = static_cast<std::int64_t>(came * share * kAdapted);
    keep_in_bounds();
    ignored_ = static_cast<std::int64_t>(static_cast<double>(in_flight.value) * kIgnored);
    since_adapt_ = 0;
    must_adapt_ = false;
    const double window_share = static_cast<double>(window_) / static_cast<double>(path_);
    fair_ = std::min(fair_max_,
                     static_cast<double>(path_) * kFairOfPath / static_cast<double>(frame_) * window_share);
  }

  // The four cases of mark and delay, unless nothing has queued for a window.
  void change(double received, Picoseconds rtt, bool is_marked) {
    const auto window = static_cast<double>(window_);
    const auto frame = static_cast<double>(frame_);
    const double over = static_cast<double>((rtt - target_).value) / static_cast<double>(rtt.value);
    const double fair_decrease = window / static_cast<double>(path_) * kFairDecrease * received;
    double change = 0;
    if (is_fast_ || unqueued_bytes_ > window_before_) {
      if (since_adapt_ > ignored_) change = fast_ * received;
      is_fast_ = true;
    } else if (!is_marked) {
      change = frame / window * fair_ * received;
      if (rtt < target_) change += std::min(-over * delay_gain_ * received * frame / window, received);
    } else if (rtt > target_) {
      change = -std::min(kDelayDecrease * over * received + fair_decrease, received);
    } else if (rtt < target_) {
      change = -fair_decrease;
    }
    window_ += static_cast<std::int64_t>(change);
  }

  std::int64_t frame_;
  std::int64_t path_;  // bytes of a round trip, and of the largest window
  Picoseconds base_rtt_;
  Picoseconds target_;    // round trip
  Picoseconds unqueued_;  // the longest round trip that counts as one
  double fast_;
  double fair_max_;
  double fair_;
  double delay_gain_;
  std::int64_t window_;
  std::int64_t window_before_;       // when something queued last
  std::int64_t unqueued_bytes_ = 0;  // in a row
  bool is_fast_ = false;
  std::int64_t achieved_ = 0;  // bytes in this period
  Picoseconds period_end_;
  bool must_adapt_ = false;       // by a trimmed packet
  std::int64_t since_adapt_ = 0;  // bytes, since the last quick adapt
  std::int64_t ignored_ = 0;      // of them are ignored
};

// A window that follows marks alone, packet by packet: what comes unmarked adds a packet per window, a marked one
// takes a quarter of itself away. Source: MP-RDMA (Lu et al., "Multi-path transport for RDMA in datacenters", NSDI
// 2018) as REPS' artifact has it (commit b751588, uec.cpp: updateCwndOnAck_MPRDMA, updateCwndOnNack_MPRDMA,
// mark_packet_for_retransmission). Deviation: MP-RDMA takes half a packet for a mark; docs/explanation/deviations.md.
class MarkWindow final : public SendWindow {
 public:
  static constexpr std::int64_t kMarkedShare = 4;

  explicit MarkWindow(const UetSettings& settings)
      : settings_(settings),
        base_rtt_(settings.base_rtt),
        window_max_(settings.path_window(settings.base_rtt).value),
        window_(settings.window_packets == 0 ? window_max_
                                             : settings.window_packets * settings.frame().value) {}

  Bytes window() const override { return {window_}; }
  Picoseconds base_rtt() const override { return base_rtt_; }

  void on_acknowledged(Bytes received, std::optional<Picoseconds> rtt, bool is_marked, Bytes /*in_flight*/,
                       Picoseconds /*now*/) override {
    if (rtt && *rtt < base_rtt_) {
      base_rtt_ = *rtt;
      window_max_ = settings_.path_window(*rtt).value;
    }
    if (is_marked) {
      take(received.value / kMarkedShare);
    } else {
      window_ = std::min(window_ + received.value * settings_.frame().value / window_, window_max_);
    }
  }

  void on_trimmed(Bytes frame, Picoseconds /*rtt*/, bool /*is_left_to_credits*/, Bytes /*in_flight*/,
                  Picoseconds /*now*/) override {
    take(frame.value);
  }
  void on_timeout(Bytes frame) override { take(frame.value); }

 private:
  void take(std::int64_t bytes) { window_ = std::max(window_ - bytes, settings_.frame().value); }

  const UetSettings& settings_;  // of the requester that has this window
  Picoseconds base_rtt_;         // the shortest seen
  std::int64_t window_max_;
  std::int64_t window_;
};

}  // namespace simulator
