// A way to repair losses other than the usual go-back-N, as experiments name it. Its header ends with one;
// reliability/registry.h and tcp/registry.h list them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cc/parameters.h"
#include "reliability/requester.h"
#include "reliability/responder.h"

namespace simulator {

// Both halves of one queue pair.
struct Reliability {
  std::unique_ptr<Requester> requester;
  std::unique_ptr<Responder> responder;
  std::uint32_t acknowledgement_priority = 0;
  Picoseconds requester_deadline = kNever;  // as they said it last: mostly one half alone has work
  Picoseconds responder_deadline = kNever;
  Picoseconds armed = kNever;  // what their timer waits for
};

struct ReliabilityKind {
  std::string_view name;
  std::string_view meaning;
  std::span<const Parameter> parameters;
  std::string_view shortest_timeout_ns;  // the parameter; must be longer than the way there and back
  Reliability (*create)(const ParameterValues& values, std::uint32_t mtu_bytes);
  bool controls_window = false;  // a TCP, which takes no congestion control of the NIC
};

}  // namespace simulator
