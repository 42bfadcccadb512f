// Go-back-N, with the timers and NAKs of the NICs and simulators that it follows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "cc/parameters.h"
#include "reliability/irn.h"
#include "reliability/kind.h"
#include "reliability/requester.h"
#include "reliability/responder.h"

namespace simulator {

// Kinds of go-back-N. They differ in when a gap is reported again, in whether duplicates are acknowledged, in how far
// the sender goes back, and in the timeout. None counts retries.
//
// Sources: go-back-n, irn-gbn: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, sections
// 4.1 (fixed timeout of RoCE) and 4.3 (IRN's ablation). go-back-0: Guo et al., "RDMA over commodity
// Ethernet at scale", SIGCOMM 2016, section 4.1. The others: the simulators' code,
// alibaba-edu/High-Precision- Congestion-Control (rdma-hw.cc), conweave-project/conweave-ns3,
// Broadcom/csg-htsim (roce.cpp). go-back-0: no progress within a message restarts its timer, so that the
// timeout is the usual one of NICs, 4.096 us * 2^14. Deviation: csg-htsim's timeout is estimated, from 20
// ms on and with jitter; here it is 20 ms.

// Reports a gap once.
inline constexpr double kOnceNs = 1e12;

using GoBackNParameters = std::array<Parameter, 7>;

constexpr GoBackNParameters go_back_n_parameters(double cap_packets, double rto_low_ns, double rto_high_ns,
                                                 double nak_gap_ns, double acks_duplicates,
                                                 double restarts_messages) {
  return {Parameter{"cap_packets", cap_packets, 0, 1 << 22, "packets in flight, at most; 0 = no cap"},
          Parameter{"rto_low_ns", rto_low_ns, 0, 1e12,
                    "timeout while few packets are in flight; 0 = no timeouts"},
          Parameter{"rto_high_ns", rto_high_ns, 0, 1e12, "timeout otherwise"},
          Parameter{"rto_low_packets", 3, 0, 1 << 22, "number of packets in flight that count as few"},
          Parameter{"nak_gap_ns", nak_gap_ns, 0, kOnceNs,
                    "time after which a gap is reported again; 0 = with every packet, 1e12 = never"},
          Parameter{"acks_duplicates", acks_duplicates, 0, 1, "1: duplicates are acknowledged"},
          Parameter{"restarts_messages", restarts_messages, 0, 1,
                    "a gap sends the sender back to the first packet of its verb (go-back-0)"}};
}

inline constexpr GoBackNParameters kIrnGbnParameters =
    go_back_n_parameters(111, 100'000, 320'000, kOnceNs, 1, 0);
inline constexpr GoBackNParameters kGoBackNParameters =
    go_back_n_parameters(0, 320'000, 320'000, kOnceNs, 1, 0);
inline constexpr GoBackNParameters kGoBack0Parameters =
    go_back_n_parameters(0, 67'108'864, 67'108'864, kOnceNs, 1, 1);
inline constexpr GoBackNParameters kGoBackNHpccParameters = go_back_n_parameters(0, 0, 0, 500'000, 0, 0);
inline constexpr GoBackNParameters kGoBackNConweaveParameters =
    go_back_n_parameters(0, 4'000'000, 4'000'000, 500'000, 1, 0);
inline constexpr GoBackNParameters kGoBackNHtsimParameters =
    go_back_n_parameters(0, 20'000'000, 20'000'000, 0, 1, 0);

struct GoBackNSettings {
  explicit GoBackNSettings(const ParameterValues& values)
      : sending(values),
        nak_gap(values.at("nak_gap_ns") >= kOnceNs
                    ? kNever
                    : Picoseconds{static_cast<std::int64_t>(values.at("nak_gap_ns")) *
                                  kPicosecondsPerNanosecond}),
        acks_duplicates(values.at("acks_duplicates") != 0),
        restarts_messages(values.at("restarts_messages") != 0) {}

  IrnSettings sending;
  Picoseconds nak_gap;  // kNever: report a gap once
  bool acks_duplicates;
  bool restarts_messages;
};

// Go-back-N: what comes early is refused, and everything from the gap on is sent again; or everything from the
// first packet of the verb on (go-back-0). Sources and kinds: reliability/go_back_n.h.
class GoBackNResponder final : public Responder {
 public:
  explicit GoBackNResponder(const GoBackNSettings& settings)
      : nak_gap_(settings.nak_gap),
        acks_duplicates_(settings.acks_duplicates),
        restarts_messages_(settings.restarts_messages) {}

  std::uint64_t expected() const override { return restarts_messages_ ? message_ : expected_; }
  Bytes delivered() const override { return delivered_; }

 protected:
  void on_data(const DataPacket& packet, bool is_marked, Picoseconds now) override {
    if (restarts_messages_ && packet.number == message_) restart();  // after a timeout
    const bool is_early = packet.number > expected_;
    if (is_early && !must_tell(now)) return;
    if (packet.number < expected_ && !acks_duplicates_) return;
    if (is_early && restarts_messages_) restart();
    if (packet.number == expected_) accept(packet);
    if (message_ < expected_) return;  // go-back-0 acknowledges whole messages
    queue_up(
        {.expected = expected(), .is_negative = is_early, .echoes_mark = is_marked, .echoed = packet.sent});
  }

 private:
  void accept(const DataPacket& packet) {
    ++expected_;
    is_gap_reported_ = false;
    partial_.value += packet.payload_bytes;
    if (restarts_messages_ && !packet.is_last) return;
    message_ = expected_;
    delivered_ += partial_;
    partial_ = {};
  }

  void restart() {
    expected_ = message_;
    partial_ = {};
  }

  // A packet has come early. Progress makes any gap a new one.
  bool must_tell(Picoseconds now) {
    if (is_gap_reported_ && (nak_gap_ == kNever || now < gap_reported_ + nak_gap_)) return false;
    is_gap_reported_ = true;
    gap_reported_ = now;
    return true;
  }

  Picoseconds nak_gap_;
  bool acks_duplicates_;
  bool restarts_messages_;
  std::uint64_t expected_ = 0;
  std::uint64_t message_ = 0;  // first packet of the verb that comes; with go-back-N: expected_
  Bytes partial_;              // of that verb
  Bytes delivered_;
  Picoseconds gap_reported_;
  bool is_gap_reported_ = false;
};

class GoBackNRequester final : public Requester {
 public:
  GoBackNRequester(std::uint32_t mtu_bytes, const GoBackNSettings& settings)
      : Requester(mtu_bytes), cap_packets_(settings.sending.cap()), timer_(settings.sending.timer()) {}

  bool has_packet() const override {
    return next_ < posted() && packets_in_flight() < std::min(cap_packets_, window_packets());
  }

  bool on_acknowledgement(const Acknowledgement& reply, Picoseconds now) override {
    if (acknowledge_below(reply.expected)) {
      next_ = std::max(next_, acknowledged());
      if (acknowledged() < sent()) {
        timer_.start(now);
      } else {
        timer_.stop();
      }
    }
    if (!reply.is_negative || reply.expected != acknowledged()) return true;
    ++counters_.naks;
    if (next_ > acknowledged()) ++recoveries_;
    next_ = acknowledged();
    return true;
  }

  Picoseconds deadline() const override { return timer_.deadline(); }

  bool on_deadline(Picoseconds now, double slowness) override {
    if (!timer_.has_expired(packets_in_flight(), slowness)) return true;
    ++counters_.timeouts;
    next_ = acknowledged();
    timer_.start(now);
    return true;
  }

 protected:
  std::uint64_t next_number() const override { return next_; }

  void on_packet_sent(std::uint64_t number, bool /*is_new*/, Picoseconds end) override {
    if (!timer_.is_armed()) timer_.start(end);
    next_ = number + 1;
  }

 private:
  std::uint64_t packets_in_flight() const { return next_ - acknowledged(); }

  std::uint64_t cap_packets_;
  std::uint64_t next_ = 0;
  IrnTimer timer_;
};

inline Reliability create_go_back_n(const ParameterValues& values, std::uint32_t mtu_bytes) {
  const GoBackNSettings settings(values);
  return {std::make_unique<GoBackNRequester>(mtu_bytes, settings),
          std::make_unique<GoBackNResponder>(settings)};
}

inline constexpr ReliabilityKind kIrnGbn{"irn-gbn", "IRN with go-back-N instead of selective repeat",
                                         kIrnGbnParameters, "rto_low_ns", create_go_back_n};
inline constexpr ReliabilityKind kGoBackN{"go-back-n",
                                          "go-back-N with a fixed timeout, as IRN's authors simulate RoCE",
                                          kGoBackNParameters, "rto_low_ns", create_go_back_n};
inline constexpr ReliabilityKind kGoBack0{"go-back-0", "a loss repeats the whole message, as in early NICs",
                                          kGoBack0Parameters, "rto_low_ns", create_go_back_n};
inline constexpr ReliabilityKind kGoBackNHpcc{"go-back-n-hpcc",
                                              "go-back-N of HPCC's simulator, which has no timeouts",
                                              kGoBackNHpccParameters, "rto_low_ns", create_go_back_n};
inline constexpr ReliabilityKind kGoBackNConweave{"go-back-n-conweave", "go-back-N of ConWeave's simulator",
                                                  kGoBackNConweaveParameters, "rto_low_ns", create_go_back_n};
inline constexpr ReliabilityKind kGoBackNHtsim{"go-back-n-htsim",
                                               "go-back-N of csg-htsim: each early packet is refused loudly",
                                               kGoBackNHtsimParameters, "rto_low_ns", create_go_back_n};

}  // namespace simulator
