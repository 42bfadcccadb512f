// The interfaces of controls in switches and in receivers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random_stream.h"
#include "base/units.h"
#include "cc/plugin_control.h"
#include "rogue/receiver_control.h"
#include "rogue/switch_control.h"

namespace simulator {

// The place of a port. It takes the random numbers of the port's marker, which it replaces.
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

using SwitchKind = PluginKind<rogue::abi::SwitchTable>;

// A plug-in switch control; its results are checked.
class SwitchControl : public PluginObject<SwitchKind> {
 public:
  SwitchControl(SwitchKind kind, const std::vector<double>& values, const rogue::Place& place)
      : PluginObject(std::move(kind), values, place) {}

  bool sees_arrivals() const { return table().sees_arrivals != 0; }
  bool sees_departures() const { return table().sees_departures != 0; }
  bool wants_queues() const { return table().wants_queues != 0; }

  rogue::Verdict on_arrival(const rogue::Arrival& arrival) {
    const rogue::Verdict last = table().trims != 0 ? rogue::Verdict::kTrim : rogue::Verdict::kDrop;
    return verdict("on_arrival", table().on_arrival, arrival, last);
  }
  rogue::Verdict on_departure(const rogue::Departure& departure) {
    return verdict("on_departure", table().on_departure, departure, rogue::Verdict::kDrop);
  }
  std::uint32_t choose(const rogue::abi::ChoiceRecord& choice) {
    const std::uint32_t port = number_from("choose", table().choose, choice);
    if (port >= choice.port_count) [[unlikely]]
      throw refused("choose", "a port below " + std::to_string(choice.port_count), port);
    return port;
  }

 private:
  template <class Call, class Record>
  rogue::Verdict verdict(const char* name, Call function, const Record& record, rogue::Verdict last) {
    const std::uint32_t number = number_from(name, function, record);
    if (number > static_cast<std::uint32_t>(last)) [[unlikely]]
      throw refused(name, last == rogue::Verdict::kTrim ? "a Verdict" : "kTake, kMark or kDrop", number);
    return static_cast<rogue::Verdict>(number);
  }

  template <class Call, class Record>
  std::uint32_t number_from(const char* name, Call function, const Record& record) {
    std::uint32_t number = 0;
    call(name,
         [&](void* control, rogue::abi::Fault* fault) { return function(control, &record, &number, fault); });
    return number;
  }
};

using ReceiverKind = PluginKind<rogue::abi::ReceiverTable>;

// A plug-in receiver control; its results are checked.
class ReceiverControl : public PluginObject<ReceiverKind> {
 public:
  ReceiverControl(ReceiverKind kind, const std::vector<double>& values, const rogue::Host& host)
      : PluginObject(std::move(kind), values, host) {}

  Picoseconds deadline() const { return {next_turn_ps_}; }

  void on_arrival(const rogue::Received& packet) {
    call("on_arrival", [&](void* control, rogue::abi::Fault* fault) {
      return table().on_arrival(control, &packet, &next_turn_ps_, fault);
    });
    check_deadline("on_arrival", packet.now_ps);
  }

  // One that is due again at once would keep the engine at this instant for ever.
  rogue::Grant on_turn(Picoseconds now, std::uint32_t connections) {
    rogue::Grant grant;
    call("on_turn", [&](void* control, rogue::abi::Fault* fault) {
      return table().on_turn(control, now.value, &grant, &next_turn_ps_, fault);
    });
    check_deadline("on_turn", now.value + 1);
    if (grant.connection != rogue::kNobody && grant.connection >= connections) [[unlikely]] {
      const std::string most = std::to_string(connections);
      throw refused("on_turn", "a connection below " + most + " or kNobody", grant.connection);
    }
    return grant;
  }

  // The bytes of a grant, of which `room` may be given.
  void check_bytes(std::int64_t bytes, std::int64_t room) {
    if (bytes < 0 || bytes > room) [[unlikely]]
      throw refused("on_turn", "bytes from 0 to " + std::to_string(room), bytes);
  }

 private:
  void check_deadline(const char* after, std::int64_t earliest_ps) {
    if (next_turn_ps_ >= earliest_ps) [[likely]]
      return;
    const std::string expected = std::to_string(earliest_ps) + " or later after " + after;
    throw refused("next_turn_ps", expected, next_turn_ps_);
  }

  std::int64_t next_turn_ps_ = rogue::kNever;
};

}  // namespace simulator
