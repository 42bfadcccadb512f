// A control that is wrong in the way that its parameter says.
#pragma once

#include <rogue/nic_control.h>

#include <cstdint>
#include <stdexcept>

class Moody : public rogue::NicControl {
 public:
  static constexpr bool wants_telemetry = true;

  Moody(const rogue::Parameters& parameters, std::int64_t line_rate_bps)
      : NicControl(line_rate_bps), mood_(parameters.whole("mood")) {
    deadline_ps = 1'000'000;
    if (mood_ == 1) throw std::runtime_error("not today");
    if (mood_ == 2) parameters.at("temper");
    if (mood_ == 3) window_bytes = 0;
  }

  void on_timer(std::int64_t now_ps) override {
    deadline_ps = mood_ == 4 ? now_ps : rogue::kNever;
    if (mood_ == 5) rogue::fail("tired");
    if (mood_ == 6) throw 6;
  }
  void on_sent(std::int64_t, std::int64_t) override {
    if (mood_ == 7) window_bytes = 1024;
  }
  void on_acknowledgement(std::int64_t, const rogue::Acknowledgement& told) override {
    ++acknowledged_;
    hops_ += told.hops.size();
  }
  rogue::Metrics metrics(std::int64_t) const override {
    if (mood_ == 8) rogue::fail("secret");
    return {{"acknowledged", acknowledged_}, {"hops", hops_}};
  }

 private:
  std::int64_t mood_;
  double acknowledged_ = 0;
  double hops_ = 0;
};

ROGUE_NIC_CONTROL(Moody, "moody", "It does what it likes.", {"mood", 0, 0, 9, "what is wrong with it"});
