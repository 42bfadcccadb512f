// DCQCN once more, as a control outside the tree that gives what the engine's own gives.
// Source: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3, with the
// engine's constants.
#pragma once

#include <rogue/nic_control.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

class Dcqcn final : public rogue::NicControl {
 public:
  static constexpr bool wants_marks = true;

  Dcqcn(const rogue::Parameters& parameters, std::int64_t line_rate_bps)
      : NicControl(line_rate_bps),
        line_bps_(static_cast<double>(line_rate_bps)),
        g_(parameters.at("g")),
        alpha_timer_ps_(parameters.whole("alpha_timer_ns") * kPsPerNs),
        rate_timer_ps_(parameters.whole("rate_timer_ns") * kPsPerNs),
        counter_bytes_(parameters.whole("byte_counter_bytes")),
        recoveries_(parameters.whole("recoveries")),
        additive_bps_(parameters.at("additive_increase_bps")),
        hyper_bps_(parameters.at("hyper_increase_bps")),
        rate_min_bps_(std::min(parameters.at("rate_min_bps"), line_bps_)),
        alpha_(parameters.at("initial_alpha")) {
    cnp_gap_ps = parameters.whole("cnp_gap_ns") * kPsPerNs;
    tell();
  }

  // Target and rate fall, alpha rises, all counting starts again.
  void on_cnp(std::int64_t now_ps) override {
    const double alpha = decayed_alpha(now_ps);
    target_bps_ = rate_bps_;
    alpha_ = (1 - g_) * alpha + g_;
    rate_bps_ = std::max(rate_min_bps_, rate_bps_ * (1 - alpha / 2));
    time_stage_ = byte_stage_ = sent_bytes_ = 0;
    alpha_deadline_ps_ = now_ps + alpha_timer_ps_;
    deadline_ps = now_ps + rate_timer_ps_;
    tell();
  }

  // Counts towards an increase.
  void on_sent(std::int64_t, std::int64_t wire_bytes) override {
    if (!is_limited()) return;
    sent_bytes_ += wire_bytes;
    if (sent_bytes_ >= counter_bytes_) {
      sent_bytes_ -= counter_bytes_;
      ++byte_stage_;
      increase();
    }
    tell();
  }

  void on_timer(std::int64_t now_ps) override {
    ++time_stage_;
    increase();
    if (is_limited()) deadline_ps = now_ps + rate_timer_ps_;
    tell();
  }

  // Where the rate goes back to, and the estimate of congestion.
  rogue::Metrics metrics(std::int64_t now_ps) const override {
    return {{"target_bps", target_bps_}, {"alpha", decayed_alpha(now_ps)}};
  }

 private:
  static constexpr std::int64_t kPsPerNs = 1000;

  bool is_limited() const { return rate_bps_ < line_bps_; }

  // Alpha after a decay for each full timer without a CNP, by squares as the engine works it out.
  double decayed_alpha(std::int64_t now_ps) const {
    std::int64_t left = 0;
    if (alpha_deadline_ps_ <= now_ps) left = 1 + (now_ps - alpha_deadline_ps_) / alpha_timer_ps_;
    double alpha = alpha_;
    for (double factor = 1 - g_; left != 0; left >>= 1, factor *= factor) {
      if ((left & 1) != 0) alpha *= factor;
    }
    return alpha;
  }

  // Half-way to the target, which itself rises after the recoveries, and faster after both.
  void increase() {
    const std::int64_t hyper_stages = std::min(time_stage_, byte_stage_) - recoveries_;
    if (hyper_stages > 0) {
      target_bps_ += static_cast<double>(hyper_stages) * hyper_bps_;
    } else if (std::max(time_stage_, byte_stage_) > recoveries_) {
      target_bps_ += additive_bps_;
    }
    target_bps_ = std::min(target_bps_, line_bps_);
    rate_bps_ = (target_bps_ + rate_bps_) / 2;
    if (line_bps_ - rate_bps_ >= 1) return;
    rate_bps_ = line_bps_;
    deadline_ps = rogue::kNever;
  }

  void tell() {
    rate_bps = std::llround(rate_bps_);
    untold_bytes_max = is_limited() ? counter_bytes_ - sent_bytes_ : rogue::kUnlimited;
  }

  double line_bps_;
  double g_;
  std::int64_t alpha_timer_ps_;
  std::int64_t rate_timer_ps_;
  std::int64_t counter_bytes_;
  std::int64_t recoveries_;
  double additive_bps_;
  double hyper_bps_;
  double rate_min_bps_;

  double rate_bps_ = line_bps_;
  double target_bps_ = line_bps_;  // that the rate goes back to
  double alpha_;
  std::int64_t time_stage_ = 0;  // increases since the cut
  std::int64_t byte_stage_ = 0;
  std::int64_t sent_bytes_ = 0;  // towards the next one
  std::int64_t alpha_deadline_ps_ = rogue::kNever;
};

ROGUE_NIC_CONTROL(Dcqcn, "my-dcqcn", "DCQCN: a CNP cuts the rate, a timer and a byte counter bring it back",
                  {"g", 1.0 / 256, 1e-9, 1, "weight of the last CNP in alpha"},
                  {"initial_alpha", 1, 0, 1, "estimate of congestion before the first CNP"},
                  {"cnp_gap_ns", 50'000, 0, 1e9, "least time between CNPs"},
                  {"alpha_timer_ns", 55'000, 1, 1e9, "alpha decays after this time without a CNP"},
                  {"rate_timer_ns", 55'000, 1, 1e9, "time from one increase to the next"},
                  {"byte_counter_bytes", 10e6, 1, 1e15, "wire bytes from one increase to the next"},
                  {"recoveries", 5, 0, 1000, "increases that go half-way to the target"},
                  {"additive_increase_bps", 40e6, 0, 1e13, "of the target, after the recoveries"},
                  {"hyper_increase_bps", 400e6, 0, 1e13, "of the target, when both have recovered"},
                  {"rate_min_bps", 100e6, 1, 1e13, "smallest rate"});
