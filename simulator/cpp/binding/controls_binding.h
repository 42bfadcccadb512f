// Python bindings of congestion controls without a network.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/configuration.h"
#include "binding/bound_engine.h"
#include "binding/control_maker.h"
#include "binding/fields.h"
#include "cc/parameters.h"
#include "cc/registry.h"
#include "cc/rocc.h"

namespace simulator {

namespace nb = nanobind;

// When the packet left a port, what waited there, what it had sent, its rate.
using HopTuple = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

// Default path of a control without a network: RoCEv2 packets of 1024 bytes, one switch.
inline constexpr PathFacts kUsualPath{
    .line_rate = {10'000'000'000}, .base_rtt = {10'000'000}, .mtu = {1024}, .packet = {1106}, .hops = 1};

struct BoundRoccPoint {
  RoccPoint point;
};

struct BoundController {
  std::unique_ptr<Controller> controller;
};

// (name, meaning, [(parameter, value, least, most, meaning)], wants_acknowledgements, wants_telemetry,
// wants_feedback) of every control.
inline nb::list list_controls() {
  nb::list controls;
  for (const ControlKind& control : kControls) {
    const auto usual = create_controller(control.name, {}, kUsualPath);
    controls.append(nb::make_tuple(std::string(control.name), std::string(control.meaning),
                                   parameter_list(control.parameters), usual->wants_acknowledgements(),
                                   usual->wants_telemetry(), usual->wants_feedback()));
  }
  return controls;
}

inline void bind_congestion_point(nb::module_& module) {
  nb::class_<BoundRoccPoint>(module, "RoccPoint", "RoCC's congestion point of one queue.")
      .def(
          "__init__",
          [](BoundRoccPoint* self, std::int64_t line_rate_bps, const ParameterValues& parameters) {
            new (self) BoundRoccPoint{RoccPoint(parameters, {line_rate_bps})};
          },
          nb::kw_only(), nb::arg("line_rate_bps"), nb::arg("parameters") = ParameterValues{})
      .def(
          "update",
          [](BoundRoccPoint& self, std::int64_t waiting_bytes) {
            return self.point.update({waiting_bytes}).value;
          },
          nb::arg("waiting_bytes"))
      .def_prop_ro("rate_units", [](const BoundRoccPoint& self) { return self.point.rate_units(); })
      .def_prop_ro("is_at_rest", [](const BoundRoccPoint& self) { return self.point.is_at_rest(); })
      .def_prop_ro("period_ps", [](const BoundRoccPoint& self) { return self.point.period().value; });
}

inline void bind_controllers(nb::module_& module) {
  bind_congestion_point(module);
  module.def("rocc_parameters", [] { return parameter_list(kRoccPointParameters); });
  module.def("controls", &list_controls);
  nb::class_<BoundController>(module, "Controller", "A congestion control of a NIC, without a network.")
      .def(
          "__init__",
          [](BoundController* self, const std::string& name, std::int64_t line_rate_bps,
             const ParameterValues& parameters, nb::handle maker, std::int64_t base_rtt_ps,
             std::int64_t mtu_bytes, std::int64_t packet_bytes, std::uint32_t hops) {
            const auto outside = FromPython<ControlMaker>::read("control_maker", maker);
            const PathFacts path{{line_rate_bps}, {base_rtt_ps}, {mtu_bytes}, {packet_bytes}, hops};
            new (self) BoundController{outside ? outside(path) : create_controller(name, parameters, path)};
          },
          nb::arg("name"), nb::kw_only(), nb::arg("line_rate_bps"), nb::arg("parameters") = ParameterValues{},
          nb::arg("control_maker") = nb::none(), nb::arg("base_rtt_ps") = kUsualPath.base_rtt.value,
          nb::arg("mtu_bytes") = kUsualPath.mtu.value, nb::arg("packet_bytes") = kUsualPath.packet.value,
          nb::arg("hops") = kUsualPath.hops)
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
          "on_acknowledgement",
          [](BoundController& self, std::int64_t now_ps, std::optional<std::int64_t> sent_ps,
             std::uint64_t acknowledged_psn, std::uint64_t sent_psn, std::uint64_t recoveries, bool is_marked,
             const std::vector<HopTuple>& hops) {
            const Picoseconds sent = sent_ps ? Picoseconds{*sent_ps} : kNever;
            std::vector<HopRecord> records;
            for (const auto& [left_ps, queue_bytes, sent_bytes, rate_bps] : hops)
              records.push_back({{left_ps}, {queue_bytes}, {sent_bytes}, {rate_bps}});
            self.controller->on_acknowledgement(
                {now_ps}, {sent, acknowledged_psn, sent_psn, recoveries, is_marked, records});
          },
          nb::arg("now_ps"), nb::kw_only(), nb::arg("sent_ps").none(), nb::arg("acknowledged_psn") = 0,
          nb::arg("sent_psn") = 0, nb::arg("recoveries") = 0, nb::arg("is_marked") = false,
          nb::arg("hops") = std::vector<HopTuple>{})
      .def(
          "on_feedback",
          [](BoundController& self, std::int64_t now_ps, std::uint32_t port, std::int64_t rate_bps) {
            self.controller->on_feedback({now_ps}, port, {rate_bps});
          },
          nb::arg("now_ps"), nb::kw_only(), nb::arg("port"), nb::arg("rate_bps"))
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
      .def_prop_ro("burst_bytes", [](const BoundController& self) { return self.controller->burst().value; })
      .def_prop_ro("untold_bytes_max",
                   [](const BoundController& self) { return self.controller->unreported_max().value; })
      .def_prop_ro("window_bytes",
                   [](const BoundController& self) -> std::optional<std::int64_t> {
                     const Bytes window = self.controller->window();
                     if (window == Controller::kNoWindow) return {};
                     return window.value;
                   })
      .def_prop_ro("cnp_gap_ps",
                   [](const BoundController& self) -> std::optional<std::int64_t> {
                     const Picoseconds gap = self.controller->cnp_gap();
                     if (gap == kNever) return {};
                     return gap.value;
                   })
      .def(
          "metrics",
          [](BoundController& self, std::int64_t now_ps) {
            return plugin_metrics(self.controller->metrics({now_ps}));
          },
          nb::arg("now_ps"));
}

}  // namespace simulator
