// All kinds of loss recovery by name. A new kind is a header and its name here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cc/parameters.h"
#include "reliability/go_back_n.h"
#include "reliability/irn.h"
#include "reliability/kind.h"
#include "reliability/uet.h"
#include "tcp/cubic.h"
#include "tcp/dctcp.h"
#include "tcp/reno.h"

namespace simulator {

inline constexpr std::array kReliabilities = {
    kIrn,     kIrnGbn, kGoBackN, kGoBack0, kGoBackNHpcc, kGoBackNConweave, kGoBackNHtsim, kUet,
    kUetRccc, kReno,   kDctcp,   kCubic,   kIwarp};

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
  const ParameterValues values = checked(kind.name, kind.parameters, given);
  check_timeouts(kind.name, values);
  return kind.create(values, mtu_bytes);
}

}  // namespace simulator
