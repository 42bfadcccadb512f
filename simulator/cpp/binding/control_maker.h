// Controls from names, from Python objects and from compiled plug-ins.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
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
#include "base/units.h"
#include "binding/fields.h"
#include "cc/compiled_control.h"
#include "cc/controller.h"
#include "cc/outside_control.h"

namespace simulator {

// Text of a control from outside the engine, as Python has it: what is no UTF-8 becomes U+FFFD.

namespace nb = nanobind;

inline nb::str outside_text(std::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), size, "replace"));
}

inline nb::dict outside_metrics(const Metrics& metrics) {
  nb::dict result;
  for (const auto& [name, value] : metrics) result[outside_text(name)] = value;
  return result;
}

// A congestion control in Python, as an engine sees it: slow, for prototypes.

// The engine may run without the GIL, and each call takes it.
class PythonControl final : public OutsideControl<PythonControl> {
 public:
  explicit PythonControl(nb::object self)
      : OutsideControl(name_of(self), "", wants_of(self.type())), self_(std::move(self)) {
    begin(attributes());
  }
  ~PythonControl() override {
    const nb::gil_scoped_acquire gil;
    self_.reset();
  }

 private:
  friend OutsideControl<PythonControl>;

  rogue::Attributes sent(Picoseconds now, Bytes wire) { return after("on_sent", now, wire.value); }
  rogue::Attributes cnp(Picoseconds now) { return after("on_cnp", now); }
  rogue::Attributes timer(Picoseconds now) { return after("on_timer", now); }
  rogue::Attributes feedback(Picoseconds now, std::uint32_t port, BitsPerSecond rate) {
    return after("on_feedback", now, port, rate.value);
  }
  rogue::Attributes acknowledgement(Picoseconds now, const Acknowledged& told) {
    const nb::gil_scoped_acquire gil;
    nb::list hops;
    for (const HopRecord& hop : told.hops) {
      hops.append(nb::make_tuple(hop.left.value, hop.queue.value, hop.sent.value, hop.rate.value));
    }
    const nb::object sent = told.sent == kNever ? nb::none() : nb::object(nb::int_(told.sent.value));
    return after("on_acknowledgement", now, sent, told.acknowledged_psn, told.sent_psn, told.recoveries,
                 told.is_marked, hops);
  }

  Metrics believed(Picoseconds now) const {
    const nb::gil_scoped_acquire gil;
    const nb::object told = self_.attr("metrics")(now.value);
    Metrics metrics;
    if (nb::try_cast(told, metrics)) return metrics;
    throw refused("metrics()", "names with numbers", nb::repr(told).c_str());
  }

  template <class... Values>
  rogue::Attributes after(const char* name, Picoseconds now, const Values&... values) {
    const nb::gil_scoped_acquire gil;
    self_.attr(name)(now.value, values...);
    return attributes();
  }

  rogue::Attributes attributes() const {
    return {.rate_bps = integer("rate_bps"),
            .window_bytes = integer("window_bytes", rogue::kUnlimited),
            .deadline_ps = integer("deadline_ps", rogue::kNever),
            .untold_bytes_max = integer("untold_bytes_max"),
            .cnp_gap_ps = integer("cnp_gap_ps", rogue::kNever),
            .burst_bytes = integer("burst_bytes")};
  }
  std::int64_t integer(const char* name, std::int64_t if_none) const {
    return nb::getattr(self_, name, nb::none()).is_none() ? if_none : integer(name);
  }
  std::int64_t integer(const char* name) const {
    if (!nb::hasattr(self_, name)) {
      const char* got = "nothing: its __init__ has to call that of PrototypeControl, or to set it";
      throw refused(name, "a whole number", got);
    }
    const nb::object value = self_.attr(name);
    std::int64_t number;
    if (nb::isinstance<nb::int_>(value) && nb::try_cast(value, number)) return number;
    throw refused(name, "a whole number", nb::repr(value).c_str());
  }

  static std::string name_of(const nb::object& self) { return nb::str(self.type().attr("__name__")).c_str(); }
  static Wants wants_of(nb::handle type) {
    const auto has = [type](const char* name) { return nb::cast<bool>(type.attr(name)); };
    return {has("wants_acknowledgements"), has("wants_telemetry"), has("wants_feedback"),
            has("hears_departures")};
  }

  nb::object self_;
};

// Factory of a plug-in control: a compiled one with its values, or a Python callable.

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
