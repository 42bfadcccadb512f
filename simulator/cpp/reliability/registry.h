// Ways to repair losses other than the usual go-back-N, by name. A new one is a file or two and a row here.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "cc/parameters.h"
#include "reliability/go_back_n.h"
#include "reliability/irn_requester.h"
#include "reliability/irn_responder.h"
#include "reliability/irn_settings.h"
#include "reliability/requester.h"
#include "reliability/responder.h"
#include "tcp/registry.h"

namespace simulator {

// Both halves of one queue pair.
struct Reliability {
  std::unique_ptr<Requester> requester;
  std::unique_ptr<Responder> responder;
};

struct ReliabilityKind {
  std::string_view name;
  std::string_view meaning;
  std::span<const Parameter> parameters;
  std::string_view shortest_timeout_ns;  // the parameter; must be longer than the way there and back
  Reliability (*create)(const ParameterValues& values, std::uint32_t mtu_bytes);
};

template <class Settings, class Sending, class Receiving>
Reliability create_halves(const ParameterValues& values, std::uint32_t mtu_bytes) {
  return {std::make_unique<Sending>(mtu_bytes, Settings(values)), std::make_unique<Receiving>()};
}

template <class Window>
Reliability create_tcp_halves(const ParameterValues& values, std::uint32_t segment_bytes) {
  auto [requester, responder] = create_tcp<Window>(values, segment_bytes);
  return {std::move(requester), std::move(responder)};
}

inline constexpr std::array kReliabilities = {
    ReliabilityKind{"irn", "IRN: selective repeat, and a cap on packets in flight", kIrnParameters,
                    "rto_low_ns", create_halves<IrnSettings, IrnRequester, IrnResponder>},
    ReliabilityKind{"irn-gbn", "IRN with go-back-N instead of selective repeat", kIrnParameters, "rto_low_ns",
                    create_halves<IrnSettings, GoBackNRequester, GoBackNResponder>},
    ReliabilityKind{"reno", "TCP with NewReno and SACK", kRenoParameters, "rto_min_ns",
                    create_tcp_halves<RenoWindow>},
    ReliabilityKind{"dctcp", "Data Center TCP", kDctcpParameters, "rto_min_ns",
                    create_tcp_halves<DctcpWindow>},
    ReliabilityKind{"cubic", "TCP with CUBIC", kCubicParameters, "rto_min_ns",
                    create_tcp_halves<CubicWindow>},
    ReliabilityKind{"iwarp", "the TCP of a NIC, under RDMA", kIwarpParameters, "rto_min_ns",
                    create_tcp_halves<RenoWindow>},
};

inline const ReliabilityKind& reliability_named(std::string_view name) {
  std::string known;
  for (const ReliabilityKind& kind : kReliabilities) {
    if (kind.name == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw SimulationError("expected a reliability named " + known + ", got " + std::string(name));
}

inline Reliability create_reliability(std::string_view name, const ParameterValues& given,
                                      std::uint32_t mtu_bytes) {
  const ReliabilityKind& kind = reliability_named(name);
  return kind.create(checked(kind.name, kind.parameters, given), mtu_bytes);
}

}  // namespace simulator
