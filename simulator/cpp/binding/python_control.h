// A congestion control in Python, as an engine sees it: slow, for prototypes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/units.h"
#include "cc/controller.h"
#include "cc/outside_control.h"

namespace simulator {

namespace nb = nanobind;

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

}  // namespace simulator
