// Python bindings of the kinds of loss recovery.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#include "binding/fields.h"
#include "catalogue/reliabilities.h"

namespace simulator {

inline nb::list list_reliabilities() {
  nb::list kinds;
  for (const ReliabilityKind& kind : kReliabilities) {
    kinds.append(nb::make_tuple(std::string(kind.name), std::string(kind.meaning),
                                std::string(kind.shortest_timeout_ns), parameter_list(kind.parameters),
                                kind.controls_window));
  }
  return kinds;
}

inline void bind_reliabilities(nb::module_& module) {
  module.def("reliabilities", &list_reliabilities);
  module.def(
      "check_reliability",
      [](const std::string& name, const ParameterValues& parameters) {
        constexpr std::uint32_t kMtuBytes = 1024;  // no parameter depends on it
        create_reliability(name, parameters, kMtuBytes);
      },
      nb::arg("name"), nb::arg("parameters"));
}

}  // namespace simulator
