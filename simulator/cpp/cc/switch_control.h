// A part of switches that somebody else wrote, as an engine sees it: what it says is checked.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random_stream.h"
#include "base/units.h"
#include "cc/outside_object.h"
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

class SwitchControl : public OutsideObject<SwitchKind> {
 public:
  SwitchControl(SwitchKind kind, const std::vector<double>& values, const rogue::Place& place)
      : OutsideObject(std::move(kind), values, place) {}

  bool sees_arrivals() const { return kind().sees_arrivals(); }
  bool sees_departures() const { return kind().sees_departures(); }
  bool wants_queues() const { return table().wants_queues != 0; }

  rogue::Verdict on_arrival(const rogue::Arrival& arrival) {
    const rogue::Verdict last = table().trims != 0 ? rogue::Verdict::kTrim : rogue::Verdict::kDrop;
    return verdict("on_arrival", table().on_arrival, arrival, last);
  }
  rogue::Verdict on_departure(const rogue::Departure& departure) {
    return verdict("on_departure", table().on_departure, departure, rogue::Verdict::kDrop);
  }
  std::uint32_t choose(const rogue::abi::ChoiceRecord& choice) {
    const std::uint32_t port = said("choose", table().choose, choice);
    if (port >= choice.port_count) [[unlikely]]
      throw refused("choose", "a port below " + std::to_string(choice.port_count), port);
    return port;
  }

 private:
  template <class Call, class Told>
  rogue::Verdict verdict(const char* name, Call function, const Told& told, rogue::Verdict last) {
    const std::uint32_t number = said(name, function, told);
    if (number > static_cast<std::uint32_t>(last)) [[unlikely]]
      throw refused(name, last == rogue::Verdict::kTrim ? "a Verdict" : "kTake, kMark or kDrop", number);
    return static_cast<rogue::Verdict>(number);
  }

  template <class Call, class Told>
  std::uint32_t said(const char* name, Call function, const Told& told) {
    std::uint32_t number = 0;
    call(name,
         [&](void* control, rogue::abi::Fault* fault) { return function(control, &told, &number, fault); });
    return number;
  }
};

}  // namespace simulator
