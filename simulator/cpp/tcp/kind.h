// Common code of the kinds of TCP, which differ only in their windows and parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "reliability/kind.h"
#include "tcp/requester.h"
#include "tcp/responder.h"
#include "tcp/settings.h"

namespace simulator {

using TcpChange = std::pair<std::string_view, double>;

template <class Window>
Reliability create_tcp(const ParameterValues& values, std::uint32_t segment_bytes) {
  const TcpSettings settings = tcp_settings(values, segment_bytes, Window::kEchoesExactly);
  const Bytes initial{std::int64_t{settings.initial_window_segments} * segment_bytes};
  auto window = std::make_unique<Window>(values, Bytes{segment_bytes}, initial);
  return {std::make_unique<TcpRequester>(settings, std::move(window)),
          std::make_unique<TcpResponder>(settings)};
}

template <class Window>
constexpr ReliabilityKind tcp(std::string_view name, std::string_view meaning,
                              std::span<const Parameter> parameters) {
  return {name, meaning, parameters, "rto_min_ns", create_tcp<Window>, true};
}

}  // namespace simulator
