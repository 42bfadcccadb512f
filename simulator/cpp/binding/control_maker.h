// Plug-ins: controls in Python, and those in compiled files.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/configuration.h"
#include "base/units.h"
#include "binding/fields.h"
#include "cc/compiled_control.h"
#include "cc/controller.h"
#include "cc/plugin_control.h"
#include "cc/switch_control.h"

namespace simulator {

namespace nb = nanobind;

// Text of a plug-in; bytes that are not UTF-8 become U+FFFD.
inline nb::str plugin_text(std::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), size, "replace"));
}

inline nb::dict plugin_metrics(const Metrics& metrics) {
  nb::dict result;
  for (const auto& [name, value] : metrics) result[plugin_text(name)] = value;
  return result;
}

// A congestion control in Python: slow, for prototypes. The engine may run without the GIL, so each call takes it.
class PythonControl final : public PluginControl<PythonControl> {
 public:
  explicit PythonControl(nb::object self)
      : PluginControl(name_of(self), "", wants_of(self.type())), self_(std::move(self)) {
    begin(attributes());
  }
  ~PythonControl() override {
    const nb::gil_scoped_acquire gil;
    self_.reset();
  }

 private:
  friend PluginControl<PythonControl>;

  rogue::Attributes sent(Picoseconds now, Bytes wire) { return after("on_sent", now, wire.value); }
  rogue::Attributes cnp(Picoseconds now) { return after("on_cnp", now); }
  rogue::Attributes timer(Picoseconds now) { return after("on_timer", now); }
  rogue::Attributes feedback(Picoseconds now, std::uint32_t port, BitsPerSecond rate) {
    return after("on_feedback", now, port, rate.value);
  }
  rogue::Attributes acknowledgement(Picoseconds now, const AckEvent& ack) {
    const nb::gil_scoped_acquire gil;
    nb::list hops;
    for (const HopRecord& hop : ack.hops) {
      hops.append(nb::make_tuple(hop.left.value, hop.queue.value, hop.sent.value, hop.rate.value));
    }
    const nb::object sent = ack.sent == kNever ? nb::none() : nb::object(nb::int_(ack.sent.value));
    return after("on_acknowledgement", now, sent, ack.acknowledged_psn, ack.sent_psn, ack.recoveries,
                 ack.is_marked, hops);
  }

  Metrics read_metrics(Picoseconds now) const {
    const nb::gil_scoped_acquire gil;
    const nb::object returned = self_.attr("metrics")(now.value);
    Metrics metrics;
    if (nb::try_cast(returned, metrics)) return metrics;
    throw refused("metrics()", "names with numbers", nb::repr(returned).c_str());
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
            has("wants_departures")};
  }

  nb::object self_;
};

// A compiled plug-in with the values of its parameters.
template <class Kind>
struct CompiledMaker {
  Kind kind;
  std::vector<double> values;
};

// Makes plug-ins of class `Control` for a place; Python's None means no plug-in.
template <class Control, class Kind, class Place>
std::function<std::unique_ptr<Control>(const Place&)> read_maker(nb::handle from) {
  if (from.is_none()) return {};
  return [maker = nb::cast<CompiledMaker<Kind>>(from)](const Place& place) {
    return std::make_unique<Control>(maker.kind, maker.values, place);
  };
}

template <>
struct FromPython<SwitchControlMaker> {
  static SwitchControlMaker read(std::string_view, nb::handle from) {
    return read_maker<SwitchControl, SwitchKind, rogue::Place>(from);
  }
};
template <>
struct FromPython<ReceiverControlMaker> {
  static ReceiverControlMaker read(std::string_view, nb::handle from) {
    return read_maker<ReceiverControl, ReceiverKind, rogue::Host>(from);
  }
};

// A NIC control may also be a Python callable.
template <>
struct FromPython<ControlMaker> {
  static ControlMaker read(std::string_view, nb::handle from) {
    if (from.is_none()) return {};
    if (nb::isinstance<CompiledMaker<CompiledKind>>(from)) {
      return [maker = nb::cast<CompiledMaker<CompiledKind>>(from)](
                 const PathFacts& path) -> std::unique_ptr<Controller> {
        return std::make_unique<CompiledControl>(maker.kind, maker.values, path);
      };
    }
    return [maker = nb::borrow<nb::object>(from)](const PathFacts& path) -> std::unique_ptr<Controller> {
      return std::make_unique<PythonControl>(
          maker(path.line_rate.value, path.base_rtt.value, path.mtu.value, path.packet.value, path.hops));
    };
  }
};

// The table at an address. It may be of another version of `header`, and its texts may be null pointers.
template <class Table>
const Table* plugin_table(std::uintptr_t address, const std::string& file, const char* header,
                          std::uint32_t expected) {
  const auto version = *reinterpret_cast<const std::uint32_t*>(address);  // the first member in all versions
  if (version != expected) {
    throw ControlError(file, "expected version " + std::to_string(expected) + " of " + header + ", got " +
                                 std::to_string(version));
  }
  const auto* table = reinterpret_cast<const Table*>(address);
  const std::span parameters(table->parameters, table->parameter_count);
  const auto has_texts = [](const auto& each) { return each.name != nullptr && each.meaning != nullptr; };
  if (!has_texts(*table) || !std::ranges::all_of(parameters, has_texts))
    throw ControlError(file, "has a name or a meaning that is a null pointer");
  return table;
}

// The Python classes of a kind of plug-ins and of its makers.
template <class Kind>
nb::class_<Kind> bind_plugin(nb::module_& module, const char* name, const char* maker_name,
                             const char* header, std::uint32_t version) {
  nb::class_<CompiledMaker<Kind>>(module, maker_name,
                                  "A compiled plug-in with the values of its parameters.");
  nb::class_<Kind> kind(module, name, "A compiled plug-in.");
  kind.def(
          "__init__",
          [header, version](Kind* self, std::uintptr_t address, std::string file) {
            const auto* table = plugin_table<typename Kind::Table>(address, file, header, version);
            new (self) Kind{table, std::move(file)};
          },
          nb::arg("address"), nb::arg("file"))
      .def_ro("file", &Kind::file)
      .def_prop_ro("name", [](const Kind& self) { return plugin_text(self.table->name); })
      .def_prop_ro("meaning", [](const Kind& self) { return plugin_text(self.table->meaning); })
      .def_prop_ro("parameters",
                   [](const Kind& self) {
                     nb::list parameters;
                     for (const auto& each : std::span(self.table->parameters, self.table->parameter_count)) {
                       parameters.append(nb::make_tuple(plugin_text(each.name), each.value, each.minimum,
                                                        each.maximum, plugin_text(each.meaning)));
                     }
                     return parameters;
                   })
      .def(
          "maker",
          [](const Kind& self, std::vector<double> values) {
            const std::size_t expected = self.table->parameter_count;
            if (values.size() == expected) return CompiledMaker<Kind>{self, std::move(values)};
            throw nb::value_error(
                ("expected " + std::to_string(expected) + " values, got " + std::to_string(values.size()))
                    .c_str());
          },
          nb::arg("values"));
  return kind;
}

inline void bind_plugins(nb::module_& module) {
  using rogue::abi::kReceiverVersion, rogue::abi::kSwitchVersion, rogue::abi::kVersion;
  using Nic = CompiledKind;
  using Switch = SwitchKind;
  bind_plugin<Nic>(module, "CompiledKind", "CompiledMaker", "rogue/nic_control.h", kVersion)
      .def_prop_ro("wants_acknowledgements",
                   [](const Nic& self) { return self.table->wants_acknowledgements != 0; })
      .def_prop_ro("wants_telemetry", [](const Nic& self) { return self.table->wants_telemetry != 0; })
      .def_prop_ro("wants_feedback", [](const Nic& self) { return self.table->wants_feedback != 0; })
      .def_prop_ro("wants_marks", [](const Nic& self) { return self.table->wants_marks != 0; });
  bind_plugin<Switch>(module, "SwitchKind", "SwitchMaker", "rogue/switch_control.h", kSwitchVersion)
      .def_prop_ro("sees_arrivals", [](const Switch& self) { return self.table->sees_arrivals != 0; })
      .def_prop_ro("sees_departures", [](const Switch& self) { return self.table->sees_departures != 0; })
      .def_prop_ro("selects_ports", [](const Switch& self) { return self.table->chooses != 0; })
      .def_prop_ro("trims", [](const Switch& self) { return self.table->trims != 0; });
  bind_plugin<ReceiverKind>(module, "ReceiverKind", "ReceiverMaker", "rogue/receiver_control.h",
                            kReceiverVersion);
}

}  // namespace simulator
