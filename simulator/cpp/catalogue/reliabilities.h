// All ways to repair losses, by name: those of RDMA's NICs, and the TCPs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cc/parameters.h"
#include "reliability/kind.h"
#include "reliability/registry.h"
#include "tcp/registry.h"

namespace simulator {

// Calls `visit(kind)` for every kind that there is.
template <class Visit>
void for_each_reliability(Visit&& visit) {
  for (const ReliabilityKind& kind : kRepairs) visit(kind);
  for (const ReliabilityKind& kind : kTcps) visit(kind);
}

inline const ReliabilityKind& reliability_named(std::string_view name) {
  const ReliabilityKind* found = nullptr;
  std::string known;
  for_each_reliability([&](const ReliabilityKind& kind) {
    if (kind.name == name) found = &kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  });
  if (found != nullptr) return *found;
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
