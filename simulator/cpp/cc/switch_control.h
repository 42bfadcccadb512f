// A part of switches that somebody else wrote, as an engine sees it: what it says is checked, and once it has raised,
// nothing calls it again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random_stream.h"
#include "base/units.h"
#include "cc/outside_control.h"
#include "rogue/switch_control.h"

namespace simulator {

// What a file was compiled to, and the file, for sentences. What is loaded once stays.
struct SwitchKind {
  const rogue::abi::SwitchTable* table = nullptr;
  std::string file;

  bool sees_arrivals() const { return table->sees_arrivals != 0; }
  bool sees_departures() const { return table->sees_departures != 0; }
};

// The place of a port. Its random numbers are those of the port's marker, in whose place it stands.
inline rogue::Place place_of_port(std::uint64_t seed, const std::string& from, const std::string& to,
                                  BitsPerSecond rate, bool leads_to_host) {
  return {.rate_bps = rate.value,
          .random_state = RandomStream(seed, "marking:" + from + "->" + to).state(),
          .is_switch = 0,
          .leads_to_host = leads_to_host};
}

inline rogue::Place place_of_switch(std::uint64_t seed, const std::string& name) {
  return {.rate_bps = 0,
          .random_state = RandomStream(seed, "choice:" + name).state(),
          .is_switch = 1,
          .leads_to_host = 0};
}

class SwitchControl {
 public:
  // `values` are those of all parameters, in the order of the table.
  SwitchControl(SwitchKind kind, const std::vector<double>& values, const rogue::Place& place)
      : kind_(std::move(kind)), table_(*kind_.table) {
    rogue::abi::Fault fault;
    control_ = table_.create(values.data(), &place, &fault);
    if (control_ == nullptr) throw raised("its constructor", fault);
  }
  SwitchControl(const SwitchControl&) = delete;
  SwitchControl& operator=(const SwitchControl&) = delete;
  ~SwitchControl() {
    if (control_ != nullptr) table_.destroy(control_);
  }

  bool sees_arrivals() const { return kind_.sees_arrivals(); }
  bool sees_departures() const { return kind_.sees_departures(); }
  bool wants_queues() const { return table_.wants_queues != 0; }

  rogue::Verdict on_arrival(const rogue::Arrival& arrival) {
    const rogue::Verdict last = table_.trims != 0 ? rogue::Verdict::kTrim : rogue::Verdict::kDrop;
    return verdict("on_arrival", table_.on_arrival, arrival, last);
  }
  rogue::Verdict on_departure(const rogue::Departure& departure) {
    return verdict("on_departure", table_.on_departure, departure, rogue::Verdict::kDrop);
  }
  std::uint32_t choose(const rogue::abi::ChoiceRecord& choice) {
    std::uint32_t port = 0;
    call("choose", table_.choose, choice, port);
    if (port >= choice.port_count) [[unlikely]]
      throw refused("choose", "a port below " + std::to_string(choice.port_count), port);
    return port;
  }

 private:
  template <class Call, class Told>
  rogue::Verdict verdict(const char* name, Call function, const Told& told, rogue::Verdict last) {
    std::uint32_t said = 0;
    call(name, function, told, said);
    if (said > static_cast<std::uint32_t>(last)) [[unlikely]]
      throw refused(name, last == rogue::Verdict::kTrim ? "a Verdict" : "kTake, kMark or kDrop", said);
    return static_cast<rogue::Verdict>(said);
  }

  template <class Call, class Told>
  void call(const char* name, Call function, const Told& told, std::uint32_t& said) {
    if (!is_sound_) throw ControlError(kind_.file, own_name() + " has raised: the simulation cannot go on");
    is_sound_ = false;
    rogue::abi::Fault fault;
    if (function(control_, &told, &said, &fault) != 0) [[unlikely]]
      throw raised(name, fault);
    is_sound_ = true;
  }

  ControlError refused(const char* call, const std::string& expected, std::uint32_t got) {
    is_sound_ = false;
    return {kind_.file, own_name() + "." + call + ": expected " + expected + ", got " + std::to_string(got)};
  }
  ControlError raised(const char* call, const rogue::abi::Fault& fault) const {
    std::string where = kind_.file;
    if (fault.line != 0) where.append(":").append(std::to_string(fault.line));
    return {where, std::string(call).append(": ").append(fault.text)};
  }
  std::string own_name() const { return table_.name; }

  SwitchKind kind_;
  const rogue::abi::SwitchTable& table_;
  void* control_ = nullptr;
  bool is_sound_ = true;
};

}  // namespace simulator
