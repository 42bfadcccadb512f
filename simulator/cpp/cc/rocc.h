// RoCC: the congestion point in a switch and the reaction point in a NIC.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "cc/controller.h"
#include "cc/parameters.h"
#include "protocol/packet_kind.h"

namespace simulator {

// RoCC's reaction point: a flow obeys the switch on its path that requests the least, and without further messages
// doubles its rate until it needs no limit.
// Source: Taheri et al., "RoCC: robust congestion control for RDMA", CoNEXT 2020, section 3.3 and algorithm 2; both
// times as in ReceiveHostAdaptor.cc and HostEtherQueue.cc of the repository danushkam/rocc.
inline constexpr std::array kRoccParameters = {
    Parameter{"rise_timer_ns", 55'000, 1, kNanosecondsMax,
              "the rate doubles after this time without a message"},
    Parameter{"processing_delay_ns", 15'000, 0, kNanosecondsMax,
              "from the arrival of a message until it takes effect"},
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

inline constexpr ControlKind kRocc =
    control<Rocc>("rocc", "RoCC's reaction point: it obeys rates that switches work out", kRoccParameters);

// RoCC's congestion point: for one queue of a switch it works out, once per period, the rate that every flow of the
// queue should have so that the queue settles at its reference. A controller with proportional and integral parts,
// whose gains fall with the rate; and two emergency cuts.
// Source: Taheri, Menikkumbura, Vanini, Fahmy, Eugster and Edsall, "RoCC: robust congestion control for RDMA", CoNEXT
// 2020, section 3 and algorithm 1; gains at low rates as in SwitchEtherQueue.cc of the repository danushkam/rocc.

// 0 in one of the last six: by the line rate, see kRoccByLineRate.
inline constexpr std::array kRoccPointParameters = {
    Parameter{"rate_unit_bps", 10e6, 1, kRateMax, "unit of rates"},
    Parameter{"queue_unit_bytes", 600, 1, 1e9, "unit of the queue length"},
    Parameter{"rate_min_bps", 100e6, 1, kRateMax, "smallest rate it requests"},
    Parameter{"reference_bytes", 0, 0, 1e12, "length that the queue settles at"},
    Parameter{"middle_bytes", 0, 0, 1e12, "growth within a period that halves the rate"},
    Parameter{"maximum_bytes", 0, 0, 1e12, "length that brings the rate to its least value"},
    Parameter{"alpha", 0, 0, 1e6, "gain on the distance from the reference"},
    Parameter{"beta", 0, 0, 1e6, "gain on the growth within a period"},
    Parameter{"period_ns", 0, 0, kNanosecondsMax, "from one rate to the next"},
};

struct RoccByLineRate {
  double line_rate_bps;
  double reference_bytes;
  double middle_bytes;
  double maximum_bytes;
  double alpha;
  double beta;
  double period_ns;
};

// Source: the same paper, table 1, for 40 and 100 Gb/s. 10 Gb/s: runtime.c of dpdk/switch in the repository, whose
// gains are 0.4 / 2^7 and 0.4 / 2^5 Mb/s per byte, the second on half the growth; here in units of 10 Mb/s and 600
// bytes.
inline constexpr RoccByLineRate kRoccByLineRate[] = {
    {10e9, 75'000, 150'000, 210'000, 0.1875, 0.375, 100'000},
    {40e9, 150'000, 300'000, 360'000, 0.3, 1.5, 40'000},
    {100e9, 300'000, 600'000, 660'000, 0.45, 2.25, 40'000},
};

// The row of the line rate, or of the next lower one that is known.
inline const RoccByLineRate& rocc_row(BitsPerSecond line_rate) {
  const RoccByLineRate* row = std::begin(kRoccByLineRate);
  for (const RoccByLineRate& other : kRoccByLineRate) {
    if (other.line_rate_bps <= static_cast<double>(line_rate.value)) row = &other;
  }
  return *row;
}

class RoccPoint {
 public:
  RoccPoint(const ParameterValues& given, BitsPerSecond line_rate) {
    const ParameterValues values = checked("rocc", kRoccPointParameters, given);
    const RoccByLineRate& row = rocc_row(line_rate);
    const auto value = [&](const char* name, double by_line_rate) {
      return values.at(name) == 0 ? by_line_rate : values.at(name);
    };
    rate_unit_bps_ = values.at("rate_unit_bps");
    queue_unit_bytes_ = values.at("queue_unit_bytes");
    rate_max_ = static_cast<double>(line_rate.value) / rate_unit_bps_;
    rate_min_ = std::min(values.at("rate_min_bps") / rate_unit_bps_, rate_max_);
    reference_ = value("reference_bytes", row.reference_bytes) / queue_unit_bytes_;
    middle_ = value("middle_bytes", row.middle_bytes) / queue_unit_bytes_;
    maximum_ = value("maximum_bytes", row.maximum_bytes) / queue_unit_bytes_;
    alpha_ = value("alpha", row.alpha);
    beta_ = value("beta", row.beta);
    period_ = nanoseconds(std::max(1.0, value("period_ns", row.period_ns)));
    rate_ = rate_max_;
    require_order();
  }

  Picoseconds period() const { return period_; }
  double rate_units() const { return rate_; }

  // Called at the end of a period with the queue length: returns the rate of each flow for the next period.
  BitsPerSecond update(Bytes waiting) {
    const double queue = static_cast<double>(waiting.value) / queue_unit_bytes_;
    const bool may_cut = rate_ > rate_max_ / 8;
    if (queue >= maximum_ && may_cut) {
      rate_ = rate_min_;
    } else if (queue - queue_before_ >= middle_ && may_cut) {
      rate_ /= 2;
    } else {
      const double divisor = gain_divisor();
      rate_ -= alpha_ / divisor * (queue - reference_) + beta_ / divisor * (queue - queue_before_);
    }
    rate_ = std::clamp(rate_, rate_min_, rate_max_);
    queue_before_ = queue;
    return {std::llround(rate_ * rate_unit_bps_)};
  }

  // An empty queue would change nothing any more.
  bool is_at_rest() const { return rate_ == rate_max_ && queue_before_ == 0; }

 private:
  // 1 from half of the largest rate on, twice that from a quarter on, and so forth to 32.
  double gain_divisor() const {
    double level = 2;
    while (rate_ < rate_max_ / level && level < 64) level *= 2;
    return level / 2;
  }

  void require_order() const {
    if (reference_ < middle_ && middle_ < maximum_) return;
    const auto bytes = [&](double units) { return number_text(units * queue_unit_bytes_); };
    throw ParameterError("rocc", "reference_bytes below middle_bytes below maximum_bytes",
                         bytes(reference_) + ", " + bytes(middle_) + " and " + bytes(maximum_));
  }

  double rate_unit_bps_;
  double queue_unit_bytes_;
  double rate_max_;  // rates and lengths in units
  double rate_min_;
  double reference_;
  double middle_;
  double maximum_;
  double alpha_;
  double beta_;
  Picoseconds period_;

  double rate_;
  double queue_before_ = 0;
};

// The congestion points of a port, one for each priority. Periods count from time 0, and stand still while nothing
// would change.
struct RoccPort {
  RoccPort(const ParameterValues& parameters, BitsPerSecond line_rate, std::uint32_t timer_number)
      : points(kPriorities, RoccPoint(parameters, line_rate)), timer(timer_number) {}

  Picoseconds next_period(Picoseconds now) const {
    const std::int64_t period = points.front().period().value;
    return {(now.value / period + 1) * period};
  }

  bool is_at_rest() const {
    return std::all_of(points.begin(), points.end(),
                       [](const RoccPoint& point) { return point.is_at_rest(); });
  }

  std::vector<RoccPoint> points;
  std::uint32_t timer;
  bool is_pending = false;
  std::int64_t messages = 0;
};

}  // namespace simulator
