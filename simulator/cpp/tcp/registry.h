// The TCPs: tables of their parameters, and how their two halves are made. reliability/registry.h lists them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "cc/parameters.h"
#include "tcp/cubic.h"
#include "tcp/dctcp.h"
#include "tcp/reno.h"
#include "tcp/requester.h"
#include "tcp/responder.h"
#include "tcp/settings.h"

namespace simulator {

using TcpChange = std::pair<std::string_view, double>;

inline constexpr auto kRenoParameters =
    tcp_parameters(std::array<TcpChange, 0>{}, std::array<Parameter, 0>{});

// Sources: RFC 8257 (g, initial alpha); Alizadeh et al., SIGCOMM 2010, section 4 (timeout 10 ms). The delay of
// acknowledgements is half of it, as in the Datacenter template of Windows Server 2012 (10 of 20 ms).
inline constexpr auto kDctcpParameters = tcp_parameters(
    std::array<TcpChange, 3>{{{"rto_min_ns", 10e6}, {"delayed_ack_ns", 5e6}, {"ecn", 1}}},
    std::array<Parameter, 2>{{{"g", 1.0 / 16, 1e-9, 1, "weight of the last window's marks in alpha"},
                              {"initial_alpha", 1, 0, 1, "estimate of the marked share before any window"}}});

// Source: RFC 9438, sections 4.6 and 5.1.
inline constexpr auto kCubicParameters = tcp_parameters(
    std::array<TcpChange, 0>{},
    std::array<Parameter, 3>{{{"c", 0.4, 1e-6, 1e6, "steepness, segments per second cubed"},
                              {"beta", 0.7, 0.01, 0.99, "what a reduction leaves of the window"},
                              {"converges_fast", 1, 0, 1, "1: flows that shrink leave room for others"}}});

// The TCP of a NIC as IRN's authors compare with (SIGCOMM 2018): its least timeout is IRN's RTOhigh, nothing
// delays acknowledgements. Source of the framing: RFC 5044 (length 2 and CRC 4 bytes, no markers), RFC 5041 and
// 5040 (14 bytes of a tagged message).
inline constexpr auto kIwarpParameters = tcp_parameters(
    std::array<TcpChange, 4>{
        {{"framing_bytes", 20}, {"rto_min_ns", 320e3}, {"ack_every_segments", 1}, {"delayed_ack_ns", 40e3}}},
    std::array<Parameter, 0>{});

template <class Window>
std::pair<std::unique_ptr<Requester>, std::unique_ptr<Responder>> create_tcp(const ParameterValues& values,
                                                                             std::uint32_t segment_bytes) {
  const TcpSettings settings = tcp_settings(values, segment_bytes, Window::kEchoesExactly);
  const Bytes initial{std::int64_t{settings.initial_window_segments} * segment_bytes};
  auto window = std::make_unique<Window>(values, Bytes{segment_bytes}, initial);
  return {std::make_unique<TcpRequester>(settings, std::move(window)),
          std::make_unique<TcpResponder>(settings)};
}

}  // namespace simulator
