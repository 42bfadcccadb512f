// What makes a part of switches that somebody else wrote: a compiled one, with the values of its parameters.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/configuration.h"
#include "binding/control_maker.h"
#include "binding/fields.h"
#include "binding/outside_text.h"
#include "cc/switch_control.h"

namespace simulator {

namespace nb = nanobind;

struct SwitchMaker {
  SwitchKind kind;
  std::vector<double> values;
};

// None stands for nothing.
template <>
struct Reading<SwitchControlMaker> {
  static SwitchControlMaker read(std::string_view, nb::handle from) {
    if (from.is_none()) return {};
    return [maker = nb::cast<SwitchMaker>(from)](const rogue::Place& place) {
      return std::make_unique<SwitchControl>(maker.kind, maker.values, place);
    };
  }
};

inline void bind_switch_controls(nb::module_& module) {
  nb::class_<SwitchMaker>(module, "SwitchMaker",
                          "A compiled part of switches, and the values of its parameters.");
  nb::class_<SwitchKind>(module, "SwitchKind", "A part of switches that was compiled outside the engine.")
      .def(
          "__init__",
          [](SwitchKind* self, std::uintptr_t address, std::string file) {
            const auto* table = outside_table<rogue::abi::SwitchTable>(
                address, file, "rogue/switch_control.h", rogue::abi::kSwitchVersion);
            new (self) SwitchKind{table, std::move(file)};
          },
          nb::arg("address"), nb::arg("file"))
      .def_ro("file", &SwitchKind::file)
      .def_prop_ro("name", [](const SwitchKind& self) { return outside_text(self.table->name); })
      .def_prop_ro("meaning", [](const SwitchKind& self) { return outside_text(self.table->meaning); })
      .def_prop_ro("parameters", [](const SwitchKind& self) { return outside_parameters(*self.table); })
      .def_prop_ro("sees_arrivals", &SwitchKind::sees_arrivals)
      .def_prop_ro("sees_departures", &SwitchKind::sees_departures)
      .def_prop_ro("chooses", [](const SwitchKind& self) { return self.table->chooses != 0; })
      .def_prop_ro("trims", [](const SwitchKind& self) { return self.table->trims != 0; })
      .def(
          "maker",
          [](const SwitchKind& self, std::vector<double> values) {
            require_values(*self.table, values);
            return SwitchMaker{self, std::move(values)};
          },
          nb::arg("values"));
}

}  // namespace simulator
