// RoCC's reaction point: a flow obeys the switch on its path that asks for the least, and without further word
// doubles its rate until it needs no limit.
// Source: Taheri et al., "RoCC: robust congestion control for RDMA", CoNEXT 2020, section 3.3 and algorithm 2; both
// times as in ReceiveHostAdaptor.cc and HostEtherQueue.cc of the repository danushkam/rocc.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>

#include "base/units.h"
#include "cc/control.h"
#include "cc/controller.h"
#include "cc/parameters.h"

namespace simulator {

inline constexpr std::array kRoccParameters = {
    Parameter{"rise_timer_ns", 55'000, 1, kNanosecondsMax, "without a message so long, the rate doubles"},
    Parameter{"processing_delay_ns", 15'000, 0, kNanosecondsMax, "from a message's arrival until it acts"},
};

class Rocc final : public Controller {
 public:
  Rocc(const ParameterValues& values, BitsPerSecond line_rate)
      : line_rate_(line_rate),
        rise_timer_(nanoseconds(values.at("rise_timer_ns"))),
        processing_delay_(nanoseconds(values.at("processing_delay_ns"))),
        rate_(line_rate) {}

  bool wants_feedback() const override { return true; }
  void on_feedback(Picoseconds now, std::uint32_t port, BitsPerSecond rate) override {
    messages_.push_back({now + processing_delay_, port, rate});
    accept_until(now);
  }

  void on_timer(Picoseconds now) override {
    accept_until(now);
    if (rises_at_ <= now) rise(now);
  }
  Picoseconds deadline() const override {
    return messages_.empty() ? rises_at_ : std::min(rises_at_, messages_.front().acts_at);
  }

  BitsPerSecond rate() const override { return rate_; }

  Metrics metrics(Picoseconds) const override {
    return {{"is_limited", is_limited_}, {"port", is_limited_ ? port_ : -1.0}};
  }

 private:
  struct Message {
    Picoseconds acts_at;
    std::uint32_t port;
    BitsPerSecond rate;
  };

  void accept_until(Picoseconds now) {
    for (; !messages_.empty() && messages_.front().acts_at <= now; messages_.pop_front()) {
      accept(messages_.front(), now);
    }
  }

  void accept(const Message& message, Picoseconds now) {
    if (is_limited_ && message.port != port_ && message.rate >= rate_) return;
    is_limited_ = true;
    port_ = message.port;
    rate_ = message.rate;
    rises_at_ = now + rise_timer_;
  }

  // Deviation: the limit ends, and the port is forgotten, only above the line rate; the authors' program keeps a
  // stale rate that later messages of other ports are compared with.
  void rise(Picoseconds now) {
    if (rate_ > line_rate_) {
      rate_ = line_rate_;
      is_limited_ = false;
      rises_at_ = kNever;
      return;
    }
    rate_.value *= 2;
    rises_at_ = now + rise_timer_;
  }

  BitsPerSecond line_rate_;
  Picoseconds rise_timer_;
  Picoseconds processing_delay_;

  std::deque<Message> messages_;  // that do not act yet
  BitsPerSecond rate_;
  std::uint32_t port_ = 0;  // that the rate comes from
  bool is_limited_ = false;
  Picoseconds rises_at_ = kNever;
};

inline constexpr Control kRocc =
    control<Rocc>("rocc", "RoCC's reaction point: it obeys rates that switches work out", kRoccParameters);

}  // namespace simulator
