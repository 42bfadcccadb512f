// The Python face of TCP's congestion controls by themselves: windows without segments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "catalogue/reliabilities.h"
#include "tcp/requester.h"

namespace simulator {

namespace nb = nanobind;

struct BoundTcpWindow {
  std::unique_ptr<Requester> requester;
  WindowControl* control;
};

inline void bind_tcp_window(nb::module_& module) {
  using Window = BoundTcpWindow;
  nb::class_<Window>(module, "TcpWindow", "The congestion control of a TCP, alone.")
      .def(
          "__init__",
          [](Window* self, const std::string& name, const ParameterValues& parameters,
             std::uint32_t segment_bytes) {
            std::unique_ptr<Requester> requester =
                create_reliability(name, parameters, segment_bytes).requester;
            auto* const tcp = dynamic_cast<TcpRequester*>(requester.get());
            if (tcp == nullptr) throw SimulationError("TcpWindow: expected the name of a TCP, got " + name);
            new (self) Window{std::move(requester), &tcp->control()};
          },
          nb::arg("name"), nb::arg("parameters") = ParameterValues{}, nb::kw_only(),
          nb::arg("segment_bytes") = 1460)
      .def(
          "on_acknowledged",
          [](Window& self, std::int64_t now_ps, std::int64_t acknowledged_bytes, bool is_echo,
             bool is_window_over, bool may_grow, std::optional<std::int64_t> round_trip_ps) {
            self.control->on_acknowledged(
                {.now = {now_ps},
                 .acknowledged = {acknowledged_bytes},
                 .is_echo = is_echo,
                 .is_window_over = is_window_over,
                 .may_grow = may_grow,
                 .round_trip = round_trip_ps ? Picoseconds{*round_trip_ps} : kNever});
          },
          nb::kw_only(), nb::arg("now_ps") = 0, nb::arg("acknowledged_bytes"), nb::arg("is_echo") = false,
          nb::arg("is_window_over") = false, nb::arg("may_grow") = true,
          nb::arg("round_trip_ps") = nb::none())
      .def(
          "on_loss", [](Window& self, std::int64_t in_flight) { self.control->on_loss({in_flight}); },
          nb::arg("in_flight_bytes"))
      .def("on_marked", [](Window& self) { self.control->on_marked(); })
      .def(
          "on_timeout",
          [](Window& self, std::int64_t in_flight, bool is_first) {
            self.control->on_timeout({in_flight}, is_first);
          },
          nb::arg("in_flight_bytes"), nb::arg("is_first") = true)
      .def_prop_ro("window_bytes", [](const Window& self) { return self.control->window().value; })
      .def_prop_ro("threshold_bytes", [](const Window& self) { return self.control->threshold().value; })
      .def("metrics", [](const Window& self) { return self.control->metrics(); });
}

}  // namespace simulator
