// A congestion control in Python, as an engine sees it: slow, for prototypes. Its attributes are read after each
// call into it, so that what an engine asks all the time costs nothing.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/configuration.h"
#include "base/units.h"
#include "binding/fields.h"
#include "cc/controller.h"

namespace simulator {

namespace nb = nanobind;

// The engine may run without the GIL, and each call takes it. Once the Python code has raised, nothing calls
// it again: what it would say makes no sense any more.
class PythonControl final : public Controller {
 public:
  explicit PythonControl(nb::object self) : self_(std::move(self)) {
    const nb::handle type = self_.type();
    wants_acknowledgements_ = nb::cast<bool>(type.attr("wants_acknowledgements"));
    wants_telemetry_ = nb::cast<bool>(type.attr("wants_telemetry"));
    wants_feedback_ = nb::cast<bool>(type.attr("wants_feedback"));
    hears_departures_ = nb::cast<bool>(type.attr("hears_departures"));
    burst_ = {integer("burst_bytes", 0)};
    cnp_gap_ = instant("cnp_gap_ps");
    learn();
  }
  ~PythonControl() override {
    const nb::gil_scoped_acquire gil;
    self_.reset();
  }

  BitsPerSecond rate() const override { return rate_; }
  Bytes burst() const override { return burst_; }
  Bytes window() const override { return window_; }
  Bytes untold_max() const override { return untold_max_; }
  Picoseconds cnp_gap() const override { return cnp_gap_; }
  Picoseconds deadline() const override { return deadline_; }
  bool wants_acknowledgements() const override { return wants_acknowledgements_; }
  bool wants_telemetry() const override { return wants_telemetry_; }
  bool wants_feedback() const override { return wants_feedback_; }

  bool on_sent(Picoseconds now, Bytes wire) override {
    if (!hears_departures_) return false;
    const BitsPerSecond before = rate_;
    call("on_sent", deadline_, now, wire.value);
    return rate_ != before;
  }
  void on_cnp(Picoseconds now) override { call("on_cnp", now, now); }
  // One that is due again at once would keep the engine at this instant for ever.
  void on_timer(Picoseconds now) override { call("on_timer", now + Picoseconds{1}, now); }
  void on_feedback(Picoseconds now, std::uint32_t port, BitsPerSecond rate) override {
    call("on_feedback", now, now, port, rate.value);
  }
  void on_acknowledgement(Picoseconds now, const Acknowledged& told) override {
    const nb::gil_scoped_acquire gil;
    nb::list hops;
    for (const HopRecord& hop : told.hops) {
      hops.append(nb::make_tuple(hop.left.value, hop.queue.value, hop.sent.value, hop.rate.value));
    }
    const nb::object sent = told.sent == kNever ? nb::none() : nb::object(nb::int_(told.sent.value));
    call("on_acknowledgement", now, now, sent, told.acknowledged_psn, told.sent_psn, told.is_marked, hops);
  }

  Metrics metrics(Picoseconds now) const override {
    const nb::gil_scoped_acquire gil;
    require_sound();
    const nb::object told = self_.attr("metrics")(now.value);
    Metrics metrics;
    if (nb::try_cast(told, metrics)) return metrics;
    throw wrong("metrics()", "names with numbers", told);
  }

 private:
  // The next deadline must not be before `earliest`.
  template <class... Values>
  void call(const char* name, Picoseconds earliest, Picoseconds now, const Values&... values) {
    const nb::gil_scoped_acquire gil;
    require_sound();
    has_raised_ = true;
    self_.attr(name)(now.value, values...);
    learn();
    if (deadline_ < earliest) {
      throw wrong("deadline_ps", std::to_string(earliest.value) + " or later after " + name,
                  nb::int_(deadline_.value));
    }
    has_raised_ = false;
  }

  void require_sound() const {
    if (has_raised_) throw SimulationError("a control in Python has raised: the simulation cannot go on");
  }

  void learn() {
    rate_ = {integer("rate_bps", 1)};
    deadline_ = instant("deadline_ps");
    window_ = is_none("window_bytes") ? kNoWindow : Bytes{integer("window_bytes", 1)};
    untold_max_ = hears_departures_ ? Bytes{integer("untold_bytes_max", 0)} : kEverything;
  }

  SimulationError wrong(const char* name, const std::string& expected, const nb::object& got) const {
    const std::string type = nb::str(self_.type().attr("__name__")).c_str();
    return SimulationError(type + "." + name + ": expected " + expected + ", got " + nb::repr(got).c_str());
  }
  bool is_none(const char* name) const { return self_.attr(name).is_none(); }
  Picoseconds instant(const char* name) const {
    return is_none(name) ? kNever : Picoseconds{integer(name, 0)};
  }
  std::int64_t integer(const char* name, std::int64_t least) const {
    const nb::object got = self_.attr(name);
    std::int64_t value;
    if (nb::isinstance<nb::int_>(got) && nb::try_cast(got, value) && value >= least) return value;
    throw wrong(name, "a whole number from " + std::to_string(least), got);
  }

  nb::object self_;
  bool wants_acknowledgements_ = false;
  bool wants_telemetry_ = false;
  bool wants_feedback_ = false;
  bool hears_departures_ = false;
  bool has_raised_ = false;
  BitsPerSecond rate_;
  Bytes burst_;
  Bytes window_ = kNoWindow;
  Bytes untold_max_;
  Picoseconds cnp_gap_ = kNever;
  Picoseconds deadline_ = kNever;
};

// Something to call with the line's rate, which returns a control; None stands for nothing.
template <>
struct Reading<ControlMaker> {
  static ControlMaker read(std::string_view, nb::handle from) {
    if (from.is_none()) return {};
    return [maker = nb::borrow<nb::object>(from)](BitsPerSecond line_rate) -> std::unique_ptr<Controller> {
      return std::make_unique<PythonControl>(maker(line_rate.value));
    };
  }
};

}  // namespace simulator
