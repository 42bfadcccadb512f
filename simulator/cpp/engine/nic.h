// A NIC: its queue pairs take turns per packet, each held back by its limiter.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/configuration.h"
#include "engine/winner_tree.h"
#include "protocol/limiter.h"
#include "protocol/nic_timing.h"
#include "protocol/queue_pair.h"
#include "protocol/rc_requester.h"
#include "protocol/responders.h"
#include "protocol/response_queue.h"
#include "reliability/kind.h"
#include "results/recorder.h"

namespace simulator {

inline constexpr std::uint32_t kNoLink = std::numeric_limits<std::uint32_t>::max();

// Fields that every packet needs come first, in one cache line.
struct alignas(64) Nic {
  ReadyQueue ready;
  std::uint64_t served = 0;
  std::uint32_t link = kNoLink;  // it has exactly one
  bool shares_limiters = false;  // some queue pairs of it do
  NicProfile profile;
  NicClock clock;
  PciDelay pci;
  std::string name;
  std::vector<std::uint32_t> paused;  // queue pairs that have something to send, but whose priority may not
  std::vector<std::uint32_t> limiters;
  std::uint32_t queue_pairs = 0;  // that took a limiter of a priority

  // Entries only fall behind, so nothing is ready before the first of them.
  bool may_send_until(Picoseconds until) const { return ready.first() <= until; }
};

// The sending half of a queue pair and where it is plugged in. A departure needs the first cache line of the
// requester and the one after the requester, no other.
struct Sender {
  RcRequester requester;
  std::uint32_t route;  // position of the first link in the table of routes, of what is not sprayed
  std::uint32_t link;   // that first link
  std::uint32_t peer;   // queue pair at the other end
  std::uint32_t nic;
  std::uint32_t limiter;
  std::uint32_t timer;
  std::uint64_t served = 0;
  Picoseconds ready;                // it could send from then on, if it were not for the limiter
  Bytes unreported{};               // wire bytes not yet reported to its control
  Bytes unreported_max{};           // report them when `unreported` reaches this
  std::uint8_t priority_flags = 0;  // the priority, where packets have it
  bool is_ready = false;            // it is in the NIC's heap, or paused
  bool is_timer_pending = false;
  bool is_controlled = false;  // by a congestion control in the NIC
  bool has_special = false;    // packets that `requester` knows nothing of: responses to READs, or of that
  bool has_responded = false;  // the last packet was one: now it is the requester's turn
  bool wants_acknowledgements = false;  // the control
  bool has_reliability = false;         // if true, `requester` is idle
  QueuePairState state = QueuePairState::kReadyToSend;
  bool wants_feedback = false;
  bool wants_telemetry = false;
  bool is_unreliable = false;
  bool has_been_reset = false;
  bool is_sprayed = false;            // each packet of its verbs
  bool has_credits = false;           // that its peer grants it, and it its peer
  std::uint64_t missing_packets = 0;  // that it sent, lost on a link or refused by a buffer
  std::uint64_t missing_replies = 0;

  std::uint32_t priority() const { return priority_flags >> PacketFlags::kPriorityShift; }
  bool has_packet() const { return requester.has_packet() || has_special; }
  bool is_plain() const { return !has_special && !has_responded && requester.is_plain(); }
  bool is_response_next() const { return has_special && !(has_responded && requester.has_packet()); }
  bool is_operational() const { return state == QueuePairState::kReadyToSend; }
};

// Fields that only some queue pairs need.
struct QueuePairExtras {
  UcResponder unreliable;
  ResponseQueue responses;
  std::uint64_t receives = 0;  // receive requests that have been used
};

struct alignas(64) Receiver {
  RcResponder responder;
  std::uint64_t received_replies = 0;
  std::uint64_t sent_replies = 0;
};
static_assert(sizeof(Receiver) == 64);

}  // namespace simulator
