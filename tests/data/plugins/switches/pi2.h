// PI2: a probability that follows how long packets wait, once for senders that react to each mark, squared for others.
// Source: De Schepper, Bondarenko, Tsang and Briscoe, "PI2: a linearized AQM for both classic and scalable TCP",
// CoNEXT 2016, sections 3 and 4.
// Deviation: it keeps no timer; what is due since the last packet is done when the next one leaves. The port has one
// probability for all of its priorities.
#pragma once

#include <rogue/switch_control.h>

#include <algorithm>
#include <cstdint>

class Pi2 final : public rogue::SwitchControl {
 public:
  Pi2(const rogue::Parameters& parameters, const rogue::Place& place)
      : target_s_(parameters.at("target_ns") * 1e-9),
        period_ps_(parameters.whole("period_ns") * 1000),
        alpha_hz_(parameters.at("alpha_hz")),
        beta_hz_(parameters.at("beta_hz")),
        random_(place.random_state) {}

  rogue::Verdict on_departure(const rogue::Departure& departure) override {
    follow(departure);
    if (!departure.packet.is_data && !departure.packet.can_be_marked) return rogue::Verdict::kTake;
    const double drawn = random_.next_fraction();
    if (departure.packet.can_be_marked)
      return drawn < probability_ ? rogue::Verdict::kMark : rogue::Verdict::kTake;
    return drawn < probability_ * probability_ ? rogue::Verdict::kDrop : rogue::Verdict::kTake;
  }

 private:
  // p' <- p' + alpha (delay - target) + beta (delay - delay before), once in each period.
  void follow(const rogue::Departure& departure) {
    if (next_ps_ == 0) next_ps_ = departure.now_ps + period_ps_;
    const double delay_s = static_cast<double>(departure.waited_ps) * 1e-12;
    for (int n = 0; departure.now_ps >= next_ps_ && n < kPeriodsMax; ++n, next_ps_ += period_ps_) {
      probability_ += alpha_hz_ * (delay_s - target_s_) + beta_hz_ * (delay_s - delay_s_);
      probability_ = std::clamp(probability_, 0.0, 1.0);
      delay_s_ = delay_s;
    }
    next_ps_ = std::max(next_ps_, departure.now_ps);
  }

  static constexpr int kPeriodsMax = 1000;  // after this many idle periods any probability has decayed to 0

  double target_s_;
  std::int64_t period_ps_;
  double alpha_hz_;
  double beta_hz_;
  rogue::Random random_;
  std::int64_t next_ps_ = 0;
  double delay_s_ = 0;
  double probability_ = 0;
};

// Its authors' gains of 0.3125 and 3.125 per second are for 32 ms; round trips here are a thousand times shorter.
ROGUE_SWITCH_CONTROL(Pi2, "pi2", "PI2: marks with a probability that follows how long packets wait",
                     {"target_ns", 20'000, 1, 1e9, "how long packets should wait"},
                     {"period_ns", 32'000, 100, 1e9, "time from one change of the probability to the next"},
                     {"alpha_hz", 312.5, 0, 1e9, "change for each second above the target"},
                     {"beta_hz", 3'125, 0, 1e9, "change for each second that the delay has grown"});
