// What a host grants by a control that somebody else wrote, as an engine sees it: what it says is checked.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "cc/outside_object.h"
#include "rogue/receiver_control.h"

namespace simulator {

// What a file was compiled to, and the file, for sentences. What is loaded once stays.
struct ReceiverKind {
  const rogue::abi::ReceiverTable* table = nullptr;
  std::string file;
};

class ReceiverControl : public OutsideObject<ReceiverKind> {
 public:
  ReceiverControl(ReceiverKind kind, const std::vector<double>& values, const rogue::Host& host)
      : OutsideObject(std::move(kind), values, host) {}

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
