// Controls from plug-ins: objects of a compiled library behind the engine's interface.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "cc/controller.h"
#include "rogue/nic_control.h"
#include "rogue/plugin.h"

namespace simulator {

// A plug-in control as an engine sees it: its attributes are checked and cached after each call into it, so that
// engines can read them often at no cost.

// It has raised, or returned an invalid value. The place is a file, perhaps with a line; empty: unknown.
class ControlError : public SimulationError {
 public:
  ControlError(std::string place, const std::string& what)
      : SimulationError(what), place_(std::move(place)) {}
  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

static_assert(rogue::kNever == kNever.value && rogue::kUnlimited == Controller::kNoWindow.value &&
              rogue::kUnlimited == Controller::kEverything.value);

// Features that a class of controls needs.
struct Wants {
  bool acknowledgements = false;
  bool telemetry = false;
  bool feedback = false;
  bool departures = false;
};

// The calls into the control are those of `Derived`: each returns its attributes. Once one has raised, nothing calls
// it again: what it would say makes no sense any more.
template <class Derived>
class PluginControl : public Controller {
 public:
  BitsPerSecond rate() const final { return {attributes_.rate_bps}; }
  Bytes burst() const final { return {attributes_.burst_bytes}; }
  Bytes window() const final { return {attributes_.window_bytes}; }
  Bytes unreported_max() const final {
    return wants_.departures ? Bytes{attributes_.untold_bytes_max} : kEverything;
  }
  Picoseconds cnp_gap() const final { return {attributes_.cnp_gap_ps}; }
  Picoseconds deadline() const final { return {attributes_.deadline_ps}; }
  bool wants_acknowledgements() const final { return wants_.acknowledgements || wants_.telemetry; }
  bool wants_telemetry() const final { return wants_.telemetry; }
  bool wants_feedback() const final { return wants_.feedback; }

  bool on_sent(Picoseconds now, Bytes wire) final {
    if (!wants_.departures) return false;
    const std::int64_t rate_before_bps = attributes_.rate_bps;
    notify("on_sent", deadline(), [&] {
      const rogue::Attributes attributes = derived().sent(now, wire);
      if (attributes.window_bytes != attributes_.window_bytes) throw moved_window(attributes.window_bytes);
      return attributes;
    });
    return attributes_.rate_bps != rate_before_bps;
  }
  void on_cnp(Picoseconds now) final {
    notify("on_cnp", now, [&] { return derived().cnp(now); });
  }
  // One that is due again at once would keep the engine at this instant for ever.
  void on_timer(Picoseconds now) final {
    notify("on_timer", now + Picoseconds{1}, [&] { return derived().timer(now); });
  }
  void on_feedback(Picoseconds now, std::uint32_t port, BitsPerSecond rate) final {
    notify("on_feedback", now, [&] { return derived().feedback(now, port, rate); });
  }
  void on_acknowledgement(Picoseconds now, const AckEvent& acknowledged) final {
    notify("on_acknowledgement", now, [&] { return derived().acknowledgement(now, acknowledged); });
  }

  Metrics metrics(Picoseconds now) const final {
    require_sound();
    return static_cast<const Derived&>(*this).read_metrics(now);
  }

 protected:
  // A name for sentences, and where it was written if that is known.
  PluginControl(std::string name, std::string place, const Wants& wants)
      : name_(std::move(name)), place_(std::move(place)), wants_(wants) {}

  // As it was made.
  void begin(const rogue::Attributes& attributes) {
    check(attributes);
    at_least("burst_bytes", attributes.burst_bytes, 0);
    at_least("cnp_gap_ps", attributes.cnp_gap_ps, 0);
    attributes_ = attributes;
  }

  ControlError refused(const char* attribute, const std::string& expected, const std::string& got) const {
    return {place_, name_ + "." + attribute + ": expected " + expected + ", got " + got};
  }
  const std::string& place() const { return place_; }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  // The next deadline must not be before `earliest`. What is read once stays as it is.
  template <class Call>
  void notify(const char* call_name, Picoseconds earliest, Call call) {
    require_sound();
    is_sound_ = false;
    rogue::Attributes attributes = call();
    check(attributes);
    if (attributes.deadline_ps < earliest.value) {
      const std::string expected = std::to_string(earliest.value) + " or later after " + call_name;
      throw refused("deadline_ps", expected, std::to_string(attributes.deadline_ps));
    }
    attributes.burst_bytes = attributes_.burst_bytes;
    attributes.cnp_gap_ps = attributes_.cnp_gap_ps;
    attributes_ = attributes;
    is_sound_ = true;
  }

  void check(const rogue::Attributes& attributes) const {
    at_least("rate_bps", attributes.rate_bps, 1);
    at_least("window_bytes", attributes.window_bytes, 1);
    at_least("deadline_ps", attributes.deadline_ps, 0);
    if (wants_.departures) at_least("untold_bytes_max", attributes.untold_bytes_max, 0);
  }
  void at_least(const char* attribute, std::int64_t value, std::int64_t least) const {
    if (value < least) [[unlikely]]
      throw refused(attribute, "a whole number from " + std::to_string(least), std::to_string(value));
  }
  // The decision whether a packet may leave used the previous window.
  ControlError moved_window(std::int64_t window_bytes) const {
    const std::string got = window_bytes == rogue::kUnlimited ? "no window" : std::to_string(window_bytes);
    return refused("window_bytes", "no other window after on_sent than before", got);
  }
  void require_sound() const {
    if (!is_sound_) throw ControlError(place_, name_ + " has raised: the simulation cannot continue");
  }

  std::string name_;
  std::string place_;
  Wants wants_;
  bool is_sound_ = true;
  rogue::Attributes attributes_;
};

// The table of a compiled file, and the file for error messages. Loaded libraries stay loaded.
template <class CallTable>
struct PluginKind {
  using Table = CallTable;
  const Table* table = nullptr;
  std::string file;
};

// A plug-in object with a table of calls. Once it has raised, nothing calls it again.
template <class Kind>
class PluginObject {
 public:
  PluginObject(const PluginObject&) = delete;
  PluginObject& operator=(const PluginObject&) = delete;

 protected:
  // `values` are those of all parameters, in the order of the table.
  template <class Place>
  PluginObject(Kind kind, const std::vector<double>& values, const Place& place)
      : kind_(std::move(kind)), table_(*kind_.table) {
    rogue::abi::Fault fault;
    control_ = table_.create(values.data(), &place, &fault);
    if (control_ == nullptr) throw raised("its constructor", fault);
  }
  ~PluginObject() {
    if (control_ != nullptr) table_.destroy(control_);
  }

  const typename Kind::Table& table() const { return table_; }

  // `invoke` makes one of the table's calls of the control.
  template <class Invoke>
  void call(const char* name, Invoke invoke) {
    if (!is_sound_)
      throw ControlError(kind_.file, own_name() + " has raised: the simulation cannot continue");
    is_sound_ = false;
    rogue::abi::Fault fault;
    if (invoke(control_, &fault) != 0) [[unlikely]]
      throw raised(name, fault);
    is_sound_ = true;
  }

  template <class Number>
  ControlError refused(const char* call, const std::string& expected, Number got) {
    is_sound_ = false;
    return {kind_.file, own_name() + "." + call + ": expected " + expected + ", got " + std::to_string(got)};
  }

 private:
  ControlError raised(const char* call, const rogue::abi::Fault& fault) const {
    std::string where = kind_.file;
    if (fault.line != 0) where.append(":").append(std::to_string(fault.line));
    return {where, std::string(call).append(": ").append(fault.text)};
  }
  std::string own_name() const { return table_.name; }

  Kind kind_;
  const typename Kind::Table& table_;
  void* control_ = nullptr;
  bool is_sound_ = true;
};

}  // namespace simulator
