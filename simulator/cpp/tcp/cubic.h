// The window of CUBIC: a cubic function of the time since the last reduction, flat where the window was before
// it, and never below what Reno with the same reduction would have.
// Source: RFC 9438, section 4. HyStart++ (section 4.10) is left out.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "cc/parameters.h"
#include "tcp/kind.h"
#include "tcp/window_control.h"

namespace simulator {

class CubicWindow final : public WindowControl {
 public:
  CubicWindow(const ParameterValues& values, Bytes segment, Bytes initial_window)
      : WindowControl(segment, initial_window),
        c_(values.at("c")),
        beta_(values.at("beta")),
        converges_fast_(values.at("converges_fast") != 0) {}

  void on_acknowledged(const TcpProgress& progress) override {
    const Picoseconds since_last = progress.now - last_;
    last_ = progress.now;
    if (!progress.may_grow) {  // time in which the window is not in use does not count
      epoch_ += since_last;
      return;
    }
    if (is_in_slow_start()) return grow_in_slow_start(progress.acknowledged);
    if (!is_in_epoch_) begin_epoch(progress.now);
    grow(progress);
  }

  void on_loss(Bytes) override { reduce(); }
  void on_marked() override { reduce(); }

  void on_timeout(Bytes, bool is_first) override {
    if (is_first) remember();
    restart_below(reduced(), is_first);
    is_in_epoch_ = false;
    has_timed_out_ = true;
  }

  // The function begins anew: it counts no time in which nothing was sent. Source: RFC 9438, section 5.8.
  void on_idle(Bytes initial_window) override {
    WindowControl::on_idle(initial_window);
    is_in_epoch_ = false;
  }

  // W(t) = C (t - K)^3 + W_max, in segments, `seconds` after the epoch began.
  double cubic(double seconds) const { return c_ * std::pow(seconds - k_seconds_, 3) + most_; }

  std::map<std::string, double> metrics() const override {
    return {{"window_segments", segments_},
            {"most_segments", most_},
            {"k_seconds", k_seconds_},
            {"estimate_segments", estimate_}};
  }

 private:
  static constexpr double kPicosecondsPerSecond = 1e12;

  double window_segments() const {
    return static_cast<double>(window().value) / static_cast<double>(segment().value);
  }
  Bytes reduced() const {
    return at_least(2, {static_cast<std::int64_t>(static_cast<double>(window().value) * beta_)});
  }

  // The window before a reduction. With fast convergence a flow whose window no longer reaches the last
  // maximum leaves room for others. Source: RFC 9438, section 4.7.
  void remember() {
    before_ = window_segments();
    most_ = converges_fast_ && before_ < most_ ? before_ * (1 + beta_) / 2 : before_;
  }

  void reduce() {
    remember();
    reduce_to(reduced());
    is_in_epoch_ = has_timed_out_ = false;
  }

  // Congestion avoidance begins. Source: RFC 9438, sections 4.2 and 4.8 (after a timeout K is 0).
  void begin_epoch(Picoseconds now) {
    is_in_epoch_ = true;
    epoch_ = now;
    segments_ = estimate_ = window_segments();
    if (has_timed_out_ || most_ < segments_) most_ = segments_;
    k_seconds_ = std::cbrt((most_ - segments_) / c_);
    has_timed_out_ = false;
  }

  void grow(const TcpProgress& progress) {
    const double acked =
        static_cast<double>(progress.acknowledged.value) / static_cast<double>(segment().value);
    const double seconds = static_cast<double>((progress.now - epoch_).value) / kPicosecondsPerSecond;
    const double round_trip = progress.round_trip == kNever
                                  ? 0
                                  : static_cast<double>(progress.round_trip.value) / kPicosecondsPerSecond;
    // Reno with this reduction grows slower, until it is where the window was. Source: RFC 9438, 4.3.
    const double slower = estimate_ < before_ ? 3 * (1 - beta_) / (1 + beta_) : 1;
    estimate_ += slower * acked / segments_;
    const double target = std::clamp(cubic(seconds + round_trip), segments_, 1.5 * segments_);
    if (cubic(seconds) < estimate_) {
      segments_ = std::max(segments_, estimate_);
    } else {
      segments_ += (target - segments_) / segments_ * acked;
    }
    const Bytes larger{static_cast<std::int64_t>(segments_ * static_cast<double>(segment().value))};
    if (larger > window()) grow_to(larger);
  }

  double c_;     // segments per second cubed
  double beta_;  // what a reduction leaves
  bool converges_fast_;

  double segments_ = 0;   // the window, with its fraction
  double estimate_ = 0;   // what Reno would have
  double most_ = 0;       // W_max
  double before_ = 0;     // the window at the last reduction
  double k_seconds_ = 0;  // from the beginning of the epoch until it is there again
  Picoseconds epoch_;
  Picoseconds last_;
  bool is_in_epoch_ = false;
  bool has_timed_out_ = false;
};

// Source: RFC 9438, sections 4.6 and 5.1.
inline constexpr auto kCubicParameters = tcp_parameters(
    std::array<TcpChange, 0>{},
    std::array<Parameter, 3>{{{"c", 0.4, 1e-6, 1e6, "steepness, segments per second cubed"},
                              {"beta", 0.7, 0.01, 0.99, "share of the window that a reduction leaves"},
                              {"converges_fast", 1, 0, 1, "1: shrinking flows leave room for others"}}});

inline constexpr ReliabilityKind kCubic = tcp<CubicWindow>("cubic", "TCP with CUBIC", kCubicParameters);

}  // namespace simulator
