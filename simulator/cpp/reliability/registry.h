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

inline Reliability create_irn(const ParameterValues& values, std::uint32_t mtu_bytes) {
  return {std::make_unique<IrnRequester>(mtu_bytes, IrnSettings(values)), std::make_unique<IrnResponder>()};
}

inline Reliability create_go_back_n(const ParameterValues& values, std::uint32_t mtu_bytes) {
  const GoBackNSettings settings(values);
  return {std::make_unique<GoBackNRequester>(mtu_bytes, settings),
          std::make_unique<GoBackNResponder>(settings)};
}

template <class Window>
Reliability create_tcp_halves(const ParameterValues& values, std::uint32_t segment_bytes) {
  auto [requester, responder] = create_tcp<Window>(values, segment_bytes);
  return {std::move(requester), std::move(responder)};
}

inline constexpr std::array kReliabilities = {
    ReliabilityKind{"irn", "IRN: selective repeat, and a cap on packets in flight", kIrnParameters,
                    "rto_low_ns", create_irn},
    ReliabilityKind{"irn-gbn", "IRN with go-back-N instead of selective repeat", kIrnGbnParameters,
                    "rto_low_ns", create_go_back_n},
    ReliabilityKind{"go-back-n", "go-back-N with a fixed timeout, as IRN's authors simulate RoCE",
                    kGoBackNParameters, "rto_low_ns", create_go_back_n},
    ReliabilityKind{"go-back-0", "a loss repeats the whole message, as in early NICs", kGoBack0Parameters,
                    "rto_low_ns", create_go_back_n},
    ReliabilityKind{"go-back-n-hpcc", "go-back-N of HPCC's simulator, which has no timeouts", kGoBackNHpccParameters,
                    "rto_low_ns", create_go_back_n},
    ReliabilityKind{"go-back-n-conweave", "go-back-N of ConWeave's simulator", kGoBackNConweaveParameters,
                    "rto_low_ns", create_go_back_n},
    ReliabilityKind{"go-back-n-htsim", "go-back-N of csg-htsim: each early packet is refused loudly",
                    kGoBackNHtsimParameters, "rto_low_ns", create_go_back_n},
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
