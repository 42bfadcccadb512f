// Kinds of go-back-N, which differ in when a gap is told again, in whether duplicates are acknowledged, in
// how far the sender goes back and in the timeout. None counts retries.
//
// Sources: go-back-n, irn-gbn: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, sections
// 4.1 (fixed timeout of RoCE) and 4.3 (IRN's ablation). go-back-0: Guo et al., "RDMA over commodity
// Ethernet at scale", SIGCOMM 2016, section 4.1. The others: the simulators' code,
// alibaba-edu/High-Precision- Congestion-Control (rdma-hw.cc), conweave-project/conweave-ns3,
// Broadcom/csg-htsim (roce.cpp). go-back-0: no progress within a message restarts its timer, so that the
// timeout is the usual one of NICs, 4.096 us * 2^14. Deviation: csg-htsim's timeout is estimated, from 20
// ms on and with jitter; here it is 20 ms.
#pragma once

#include <array>
#include <cstdint>

#include "cc/parameters.h"
#include "reliability/irn_settings.h"

namespace simulator {

// A gap is told once.
inline constexpr double kOnceNs = 1e12;

using GoBackNParameters = std::array<Parameter, 7>;

constexpr GoBackNParameters go_back_n_parameters(double cap_packets, double rto_low_ns, double rto_high_ns,
                                                 double nak_gap_ns, double acks_duplicates,
                                                 double restarts_messages) {
  return {Parameter{"cap_packets", cap_packets, 0, 1 << 22, "packets in flight, at most; 0 = no cap"},
          Parameter{"rto_low_ns", rto_low_ns, 0, 1e12,
                    "timeout while few packets are in flight; 0 = no timeouts"},
          Parameter{"rto_high_ns", rto_high_ns, 0, 1e12, "timeout otherwise"},
          Parameter{"rto_low_packets", 3, 0, 1 << 22, "how many packets in flight are few"},
          Parameter{"nak_gap_ns", nak_gap_ns, 0, kOnceNs,
                    "a gap is told again so much later; 0 = with every packet, 1e12 = never"},
          Parameter{"acks_duplicates", acks_duplicates, 0, 1, "what comes twice is acknowledged"},
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
  Picoseconds nak_gap;  // kNever: a gap is told once
  bool acks_duplicates;
  bool restarts_messages;
};

}  // namespace simulator
