// Rules of marking as Python gives them.
#pragma once

#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>

#include "base/configuration.h"

namespace simulator {

// Priorities, kmin, kmax, pmax, weight of the average, at departure, drops above kmax.
using MarkingRule = std::tuple<std::uint8_t, std::int64_t, std::int64_t, double, double, bool, bool>;

inline MarkingConfiguration marking_of(const MarkingRule& rule) {
  const auto& [priorities, minimum, maximum, probability, weight, is_at_departure, drops_above] = rule;
  return {.priorities = priorities,
          .minimum = {minimum},
          .maximum = {maximum},
          .probability = probability,
          .average_weight = weight,
          .is_at_departure = is_at_departure,
          .drops_above = drops_above};
}

}  // namespace simulator
