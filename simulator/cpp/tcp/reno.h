// Reno, and iWARP over it.
#pragma once

#include <array>

#include "cc/parameters.h"
#include "tcp/kind.h"
#include "tcp/window_control.h"

namespace simulator {

// The window of Reno: one segment more per round trip, half of what is in flight after a loss or a mark.
// Source: RFC 5681, section 3; RFC 3168, section 6.1.2 (marks).
class RenoWindow : public WindowControl {
 public:
  RenoWindow(const ParameterValues&, Bytes segment, Bytes initial_window)
      : WindowControl(segment, initial_window) {}

  void on_acknowledged(const TcpProgress& progress) override {
    if (progress.may_grow) grow_like_reno(progress.acknowledged);
  }
  void on_loss(Bytes in_flight) override { reduce_to(half_of(in_flight)); }
  void on_marked() override { reduce_to(half_of(window())); }
  void on_timeout(Bytes in_flight, bool is_first) override { restart_below(half_of(in_flight), is_first); }

 protected:
  Bytes half_of(Bytes bytes) const { return at_least(2, {bytes.value / 2}); }
};

inline constexpr auto kRenoParameters =
    tcp_parameters(std::array<TcpChange, 0>{}, std::array<Parameter, 0>{});

inline constexpr ReliabilityKind kReno =
    tcp<RenoWindow>("reno", "TCP with NewReno and SACK", kRenoParameters);

// The TCP of a NIC as IRN's authors compare with (SIGCOMM 2018): its least timeout is IRN's RTOhigh, nothing
// delays acknowledgements. Source of the framing: RFC 5044 (length 2 and CRC 4 bytes, no markers), RFC 5041 and
// 5040 (14 bytes of a tagged message).
inline constexpr auto kIwarpParameters = tcp_parameters(
    std::array<TcpChange, 4>{
        {{"framing_bytes", 20}, {"rto_min_ns", 320e3}, {"ack_every_segments", 1}, {"delayed_ack_ns", 40e3}}},
    std::array<Parameter, 0>{});

inline constexpr ReliabilityKind kIwarp =
    tcp<RenoWindow>("iwarp", "the TCP of a NIC, under RDMA", kIwarpParameters);

}  // namespace simulator
