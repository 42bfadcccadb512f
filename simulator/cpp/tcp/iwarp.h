// The TCP of a NIC, under RDMA.
#pragma once

#include <array>

#include "tcp/kind.h"
#include "tcp/reno.h"

namespace simulator {

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
