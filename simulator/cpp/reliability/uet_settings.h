// Parameters of Ultra Ethernet's transport, and the interface of its windows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "cc/parameters.h"
#include "reliability/path_choice.h"

namespace simulator {

// Parameters of the Ultra Ethernet transport (UET). Source of the values: uet-htsim, commit 40ccb05, uec.cpp
// (initNsccParams, initNscc, UecSink::_bytes_unacked_threshold) and datacenter/main_uec.cpp; the specification is
// Ultra Ethernet 1.0, sections on packet delivery (PDS) and congestion management (CMS, NSCC).
inline constexpr std::array kUetParameters = {
    Parameter{"rto_ns", 100'000, 0, 1e12,
              "a packet without a reply is retransmitted after this time; 0 = never"},
    Parameter{"sack_every_bytes", 16'384, 1, 1e9,
              "frames that have one acknowledgement, if nothing asks for it"},
    Parameter{"header_bytes", 64, 0, 1'000, "header bytes of a packet that count against the window"},
    Parameter{"nscc", 1, 0, 1, "0: the window keeps its initial size"},
    Parameter{"mprdma", 0, 0, 1, "1: instead of NSCC a window that follows marks only, like MP-RDMA's"},
    Parameter{"smartt", 0, 0, 1, "1: instead of NSCC the window of SMaRTT, its predecessor"},
    Parameter{"fair_gain", 1.25, 0, 1'000,
              "SMaRTT: packets per round trip that unmarked ones add to a window"},
    Parameter{"delay_gain", 5, 0, 1'000,
              "SMaRTT: times as many as the round trip is shorter than its target"},
    Parameter{"window_packets", 0, 0, 1 << 22,
              "full packets that it begins with; 0: 1.5 times the path's bytes"},
    Parameter{"base_rtt_ns", 12'000, 1, kNanosecondsMax, "round trip of the longest path without queues"},
    Parameter{"line_rate_bps", 100e9, 1, kRateMax,
              "of the hosts, which with the round trip gives the path's bytes"},
    Parameter{"target_delay_ns", 9'000, 1, kNanosecondsMax, "target queueing delay of windows"},
    Parameter{"gamma", 0.8, 0, 1, "strength of the multiplicative decrease"},
    Parameter{"qa_gate", 3, 0, 16,
              "quick adapt: less than the largest window over 2 to the power of this has come"},
    Parameter{"load_balancing", 3, 0, 3, "paths: 0 oblivious, 1 bitmap, 2 REPS, 3 REPS, then bitmap (mixed)"},
    Parameter{"freeze_ns", 10'000'000, 1, kNanosecondsMax,
              "how long REPS goes round what it knows after a timeout"},
    Parameter{"explored_paths", 16, 0, 1 << 16, "entropies that REPS draws after it has thawed"},
};

// Of credit, beside those. Source: uet-htsim, uec.cpp (_mtus_per_pull, _maxwnd) and main_uec.cpp (UecPullPacer).
inline constexpr std::array kCreditParameters = {
    Parameter{"credit_packets", 4, 1, 1'000, "full packets of a receiver's grant"},
    Parameter{"credit_rate", 0.99, 0.01, 1,
              "of a receiver's line, which it grants to all its senders together"},
    Parameter{"credit_max_bytes", 0, 0, 1e9,
              "credit that a sender begins with, and ever has; 0: 1.5 times the path's bytes"},
    Parameter{"keeps_first_credit", 0, 0, 1,
              "1: the rest of it stays valid after the receiver's first reply, as in NDP"},
};

// The first, and then the second.
template <std::size_t kFirst, std::size_t kSecond>
constexpr std::array<Parameter, kFirst + kSecond> joined(const std::array<Parameter, kFirst>& first,
                                                         const std::array<Parameter, kSecond>& second) {
  std::array<Parameter, kFirst + kSecond> both{};
  std::ranges::copy(first, both.begin());
  std::ranges::copy(second, both.begin() + kFirst);
  return both;
}
inline constexpr auto kUetCreditParameters = joined(kUetParameters, kCreditParameters);

struct UetSettings {
  static constexpr double kPathWindows = 1.5;  // _maxwnd, of the path's bytes

  UetSettings(const ParameterValues& values, std::uint32_t mtu_bytes)
      : payload{mtu_bytes},
        header{static_cast<std::int64_t>(values.at("header_bytes"))},
        timeout(values.at("rto_ns") == 0 ? kNever : nanoseconds(values.at("rto_ns"))),
        sack_every{static_cast<std::int64_t>(values.at("sack_every_bytes"))},
        has_nscc(values.at("nscc") != 0),
        follows_marks(has_nscc && values.at("mprdma") != 0),
        is_smartt(has_nscc && values.at("smartt") != 0),
        fair_gain(values.at("fair_gain")),
        delay_gain(values.at("delay_gain")),
        has_credits(values.contains("credit_rate")),
        window_packets(static_cast<std::int64_t>(values.at("window_packets"))),
        base_rtt(nanoseconds(values.at("base_rtt_ns"))),
        line_rate{static_cast<std::int64_t>(values.at("line_rate_bps"))},
        target_delay(nanoseconds(values.at("target_delay_ns"))),
        gamma(values.at("gamma")),
        qa_gate(static_cast<int>(values.at("qa_gate"))),
        load_balancing(static_cast<LoadBalancing>(values.at("load_balancing"))),
        freeze{nanoseconds(values.at("freeze_ns")), static_cast<std::uint32_t>(values.at("explored_paths"))},
        credit_packets(has_credits ? static_cast<std::int64_t>(values.at("credit_packets")) : 0),
        credit_rate(has_credits ? values.at("credit_rate") : 0),
        requested_credit_max{has_credits ? static_cast<std::int64_t>(values.at("credit_max_bytes")) : 0},
        keeps_first_credit(has_credits && values.at("keeps_first_credit") != 0) {}

  Bytes frame() const { return payload + header; }  // of a full packet
  bool has_window() const { return has_nscc || !has_credits; }

  // Initial and largest credit of a sender.
  Bytes credit_max() const {
    return requested_credit_max.value != 0 ? requested_credit_max : path_window(base_rtt);
  }

  // Bytes that the line carries in that time.
  double bytes_in(Picoseconds time) const {
    return static_cast<double>(time.value) * static_cast<double>(line_rate.value) / 8e12;
  }

  // Largest window for this round trip, at least a packet; a smaller one would never send.
  Bytes path_window(Picoseconds round_trip) const {
    return std::max(frame(), Bytes{static_cast<std::int64_t>(kPathWindows * bytes_in(round_trip))});
  }

  Bytes payload;
  Bytes header;
  Picoseconds timeout;
  Bytes sack_every;
  bool has_nscc;
  bool follows_marks;
  bool is_smartt;
  double fair_gain;
  double delay_gain;
  bool has_credits;
  std::int64_t window_packets;
  Picoseconds base_rtt;
  BitsPerSecond line_rate;
  Picoseconds target_delay;
  double gamma;
  int qa_gate;
  LoadBalancing load_balancing;
  RepsFreeze freeze;
  std::int64_t credit_packets;
  double credit_rate;
  Bytes requested_credit_max;
  bool keeps_first_credit;
};

// The window of an Ultra Ethernet sender in bytes of frames. It keeps no clock.
class SendWindow {
 public:
  SendWindow() = default;
  SendWindow(const SendWindow&) = delete;
  SendWindow& operator=(const SendWindow&) = delete;
  virtual ~SendWindow() = default;

  virtual Bytes window() const = 0;
  virtual Picoseconds base_rtt() const = 0;
  virtual double average_delay_ps() const { return 0; }

  // `received` bytes are known to have come since the last acknowledgement; this one answers a packet that left
  // `rtt` ago, if that is a sample. `in_flight` is the rest of the window.
  virtual void on_acknowledged(Bytes received, std::optional<Picoseconds> rtt, bool is_marked,
                               Bytes in_flight, Picoseconds now) = 0;
  // The payload of a packet of `frame` bytes was cut off on its way. Left to credits: in front of a receiver that
  // grants them, and so mends that queue itself.
  virtual void on_trimmed(Bytes frame, Picoseconds rtt, bool is_left_to_credits, Bytes in_flight,
                          Picoseconds now) = 0;
  // A packet had no reply.
  virtual void on_timeout(Bytes frame) = 0;
};

}  // namespace simulator
