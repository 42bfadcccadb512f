// What makes a control that is not the engine's: a compiled one with its values, or something in Python to call.
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
#include "base/path_facts.h"
#include "binding/fields.h"
#include "binding/outside_text.h"
#include "binding/python_control.h"
#include "cc/compiled_control.h"
#include "cc/outside_control.h"

namespace simulator {

namespace nb = nanobind;

struct CompiledMaker {
  CompiledKind kind;
  std::vector<double> values;
};

// None stands for nothing.
template <>
struct Reading<ControlMaker> {
  static ControlMaker read(std::string_view, nb::handle from) {
    if (from.is_none()) return {};
    if (nb::isinstance<CompiledMaker>(from)) {
      return [maker = nb::cast<CompiledMaker>(from)](const PathFacts& path) -> std::unique_ptr<Controller> {
        return std::make_unique<CompiledControl>(maker.kind, maker.values, path);
      };
    }
    return [maker = nb::borrow<nb::object>(from)](const PathFacts& path) -> std::unique_ptr<Controller> {
      return std::make_unique<PythonControl>(
          maker(path.line_rate.value, path.base_rtt.value, path.mtu.value, path.packet.value, path.hops));
    };
  }
};

// Texts of a table from outside, which may be anything.
template <class Table>
void require_texts(const Table& table, const std::string& file) {
  const auto* const end = table.parameters + table.parameter_count;
  const bool has_texts = std::all_of(table.parameters, end, [](const rogue::Parameter& each) {
    return each.name != nullptr && each.meaning != nullptr;
  });
  if (table.name == nullptr || table.meaning == nullptr || !has_texts)
    throw ControlError(file, "has a name or a meaning that is a null pointer");
}

template <class Table>
nb::list outside_parameters(const Table& table) {
  nb::list parameters;
  for (std::uint32_t index = 0; index < table.parameter_count; ++index) {
    const rogue::Parameter& each = table.parameters[index];
    parameters.append(nb::make_tuple(outside_text(each.name), each.value, each.minimum, each.maximum,
                                     outside_text(each.meaning)));
  }
  return parameters;
}

template <class Table>
void require_values(const Table& table, const std::vector<double>& values) {
  if (values.size() == table.parameter_count) return;
  const std::string expected = std::to_string(table.parameter_count);
  throw nb::value_error(("expected " + expected + " values, got " + std::to_string(values.size())).c_str());
}

// The table at an address, which another version of its interface, a header of ours, may have made.
template <class Table>
const Table* outside_table(std::uintptr_t address, const std::string& file, const char* header,
                           std::uint32_t expected) {
  const auto version = *reinterpret_cast<const std::uint32_t*>(address);  // of another one no more is known
  if (version != expected) {
    throw ControlError(file, "expected version " + std::to_string(expected) + " of " + header + ", got " +
                                 std::to_string(version));
  }
  const auto* table = reinterpret_cast<const Table*>(address);
  require_texts(*table, file);
  return table;
}

inline void bind_compiled_controls(nb::module_& module) {
  nb::class_<CompiledMaker>(module, "CompiledMaker", "A compiled control, and the values of its parameters.");
  nb::class_<CompiledKind>(module, "CompiledKind", "A control that was compiled outside the engine.")
      .def(
          "__init__",
          [](CompiledKind* self, std::uintptr_t address, std::string file) {
            const auto* table =
                outside_table<rogue::abi::Table>(address, file, "rogue/nic_control.h", rogue::abi::kVersion);
            new (self) CompiledKind{table, std::move(file)};
          },
          nb::arg("address"), nb::arg("file"))
      .def_ro("file", &CompiledKind::file)
      .def_prop_ro("name", [](const CompiledKind& self) { return outside_text(self.table->name); })
      .def_prop_ro("meaning", [](const CompiledKind& self) { return outside_text(self.table->meaning); })
      .def_prop_ro("parameters", [](const CompiledKind& self) { return outside_parameters(*self.table); })
      .def_prop_ro("wants_acknowledgements",
                   [](const CompiledKind& self) { return self.table->wants_acknowledgements != 0; })
      .def_prop_ro("wants_telemetry",
                   [](const CompiledKind& self) { return self.table->wants_telemetry != 0; })
      .def_prop_ro("wants_feedback", [](const CompiledKind& self) { return self.table->wants_feedback != 0; })
      .def_prop_ro("wants_marks", [](const CompiledKind& self) { return self.table->wants_marks != 0; })
      .def(
          "maker",
          [](const CompiledKind& self, std::vector<double> values) {
            require_values(*self.table, values);
            return CompiledMaker{self, std::move(values)};
          },
          nb::arg("values"));
}

}  // namespace simulator
