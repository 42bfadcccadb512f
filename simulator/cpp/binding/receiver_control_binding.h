// Python bindings for receiver controls (which grant credit to senders) that are compiled outside the engine.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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
#include "cc/receiver_control.h"

namespace simulator {

namespace nb = nanobind;

struct ReceiverMaker {
  ReceiverKind kind;
  std::vector<double> values;
};

// Python's None means no receiver control.
template <>
struct Reading<ReceiverControlMaker> {
  static ReceiverControlMaker read(std::string_view, nb::handle from) {
    if (from.is_none()) return {};
    return [maker = nb::cast<ReceiverMaker>(from)](const rogue::Host& host) {
      return std::make_unique<ReceiverControl>(maker.kind, maker.values, host);
    };
  }
};

inline void bind_receiver_controls(nb::module_& module) {
  nb::class_<ReceiverMaker>(module, "ReceiverMaker",
                            "A compiled control of receivers, and the values of its parameters.");
  nb::class_<ReceiverKind>(module, "ReceiverKind",
                           "A control of receivers that was compiled outside the engine.")
      .def(
          "__init__",
          [](ReceiverKind* self, std::uintptr_t address, std::string file) {
            const auto* table = outside_table<rogue::abi::ReceiverTable>(
                address, file, "rogue/receiver_control.h", rogue::abi::kReceiverVersion);
            new (self) ReceiverKind{table, std::move(file)};
          },
          nb::arg("address"), nb::arg("file"))
      .def_ro("file", &ReceiverKind::file)
      .def_prop_ro("name", [](const ReceiverKind& self) { return outside_text(self.table->name); })
      .def_prop_ro("meaning", [](const ReceiverKind& self) { return outside_text(self.table->meaning); })
      .def_prop_ro("parameters", [](const ReceiverKind& self) { return outside_parameters(*self.table); })
      .def(
          "maker",
          [](const ReceiverKind& self, std::vector<double> values) {
            require_values(*self.table, values);
            return ReceiverMaker{self, std::move(values)};
          },
          nb::arg("values"));
}

}  // namespace simulator
