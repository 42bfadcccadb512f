// A kind of loss recovery, and the verbs that it supports.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/check.h"
#include "cc/parameters.h"
#include "protocol/queue_pair.h"
#include "reliability/requester.h"
#include "reliability/responder.h"

namespace simulator {

// Both halves of one queue pair.
struct Reliability {
  std::unique_ptr<Requester> requester;
  std::unique_ptr<Responder> responder;
  std::uint32_t acknowledgement_priority = 0;
  Picoseconds requester_deadline = kNever;  // as last reported: mostly only one half has work
  Picoseconds responder_deadline = kNever;
  Picoseconds armed = kNever;  // what their timer waits for
};

// A kind of loss recovery other than the usual go-back-N. Its header ends with one; catalogue/reliabilities.h lists
// them.
struct ReliabilityKind {
  std::string_view name;
  std::string_view meaning;
  std::span<const Parameter> parameters;
  std::string_view shortest_timeout_ns;  // the parameter; must be longer than the round trip
  Reliability (*create)(const ParameterValues& values, std::uint32_t mtu_bytes);
  bool controls_window = false;  // a TCP, which takes no congestion control of the NIC
};

inline void require_plain_write(std::uint32_t qp, const Verb& verb) {
  if (verb.kind == VerbKind::kWrite && !verb.immediate && !verb.moves_bytes) return;
  throw QueuePairError(queue_pair_name(qp) +
                       " has a reliability: expected a WRITE without immediate data and "
                       "without a memory bound to it");
}

[[noreturn]] inline void refuse_reset(std::uint32_t qp) {
  throw QueuePairError(queue_pair_name(qp) + " has a reliability: it cannot be reset");
}

}  // namespace simulator
