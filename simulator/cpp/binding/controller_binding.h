// The Python face of congestion controls by themselves, without a network.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "binding/session.h"
#include "cc/parameters.h"
#include "cc/registry.h"

namespace simulator {

namespace nb = nanobind;

struct BoundController {
  std::unique_ptr<Controller> controller;
};

// (name, meaning, [(parameter, value, least, most, meaning)]) of every control.
inline nb::list list_controls() {
  nb::list controls;
  for (const Control& control : kControls) {
    nb::list parameters;
    for (const Parameter& parameter : control.parameters) {
      parameters.append(nb::make_tuple(std::string(parameter.name), parameter.value, parameter.minimum,
                                       parameter.maximum, std::string(parameter.meaning)));
    }
    controls.append(nb::make_tuple(std::string(control.name), std::string(control.meaning), parameters));
  }
  return controls;
}

inline void bind_controllers(nb::module_& module) {
  module.def("controls", &list_controls);
  nb::class_<BoundController>(module, "Controller", "A congestion control of a NIC, without a network.")
      .def(
          "__init__",
          [](BoundController* self, const std::string& name, std::int64_t line_rate_bps,
             const ParameterValues& parameters) {
            new (self) BoundController{create_controller(name, parameters, {line_rate_bps})};
          },
          nb::arg("name"), nb::kw_only(), nb::arg("line_rate_bps"), nb::arg("parameters") = ParameterValues{})
      .def(
          "on_cnp", [](BoundController& self, std::int64_t now_ps) { self.controller->on_cnp({now_ps}); },
          nb::arg("now_ps"))
      .def(
          "on_sent",
          [](BoundController& self, std::int64_t now_ps, std::int64_t wire_bytes) {
            self.controller->on_sent({now_ps}, {wire_bytes});
          },
          nb::arg("now_ps"), nb::arg("wire_bytes"))
      .def(
          "on_answer",
          [](BoundController& self, std::int64_t now_ps, std::optional<std::int64_t> sent_ps,
             std::uint64_t acknowledged_psn, std::uint64_t sent_psn, bool is_marked) {
            const Picoseconds sent = sent_ps ? Picoseconds{*sent_ps} : kNever;
            self.controller->on_answer({now_ps}, {sent, acknowledged_psn, sent_psn, is_marked});
          },
          nb::arg("now_ps"), nb::kw_only(), nb::arg("sent_ps").none(), nb::arg("acknowledged_psn") = 0,
          nb::arg("sent_psn") = 0, nb::arg("is_marked") = false)
      .def(
          "on_feedback",
          [](BoundController& self, std::int64_t now_ps, std::uint32_t port, std::uint32_t value) {
            self.controller->on_feedback({now_ps}, port, value);
          },
          nb::arg("now_ps"), nb::kw_only(), nb::arg("port"), nb::arg("value"))
      .def(
          "on_timer", [](BoundController& self, std::int64_t now_ps) { self.controller->on_timer({now_ps}); },
          nb::arg("now_ps"))
      .def_prop_ro("deadline_ps",
                   [](const BoundController& self) -> std::optional<std::int64_t> {
                     const Picoseconds deadline = self.controller->deadline();
                     if (deadline == kNever) return {};
                     return deadline.value;
                   })
      .def_prop_ro("rate_bps", [](const BoundController& self) { return self.controller->rate().value; })
      .def_prop_ro("window_bytes",
                   [](const BoundController& self) -> std::optional<std::int64_t> {
                     const Bytes window = self.controller->window();
                     if (window == Controller::kNoWindow) return {};
                     return window.value;
                   })
      .def_prop_ro("notification_gap_ps",
                   [](const BoundController& self) -> std::optional<std::int64_t> {
                     const Picoseconds gap = self.controller->notification_gap();
                     if (gap == kNever) return {};
                     return gap.value;
                   })
      .def(
          "metrics",
          [](BoundController& self, std::int64_t now_ps) { return self.controller->metrics({now_ps}); },
          nb::arg("now_ps"));
}

}  // namespace simulator
