// Kinds of packets, and what comes with those that are more than a number and a size.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace simulator {

enum class PacketKind : std::uint8_t {
  kWrite,  // of an RC WRITE that nothing more need be known about: the fast path
  kAck,
  kNak,
  kMessage,     // of any other RC WRITE or SEND
  kUnreliable,  // of a WRITE or SEND on a queue pair of type UC
  kReadRequest,
  kReadResponse,
  kData,             // of a queue pair with a reliability of its own
  kAcknowledgement,  // of kData
  kDatagram,
  kCnp,       // congestion notification packet
  kFeedback,  // of a switch: the rate that a flow should have
  kStray,     // a copy that a switch sent out of a port because it did not know where to
  kPause,     // of one link only
};

constexpr bool is_reply(PacketKind kind) {
  return kind == PacketKind::kAck || kind == PacketKind::kNak || kind == PacketKind::kReadResponse ||
         kind == PacketKind::kAcknowledgement;
}

// Says in its IP header that it may be marked instead of dropped.
constexpr bool may_be_marked(PacketKind kind) {
  return kind != PacketKind::kAck && kind != PacketKind::kNak && kind != PacketKind::kAcknowledgement &&
         kind < PacketKind::kDatagram;
}

// Carries bytes of a verb. A READ request may be marked, too, and carries none.
constexpr bool carries_data(PacketKind kind) {
  return may_be_marked(kind) && kind != PacketKind::kReadRequest;
}

struct PacketFlags {
  static constexpr std::uint8_t kFirst = 1;
  static constexpr std::uint8_t kLast = 2;
  static constexpr std::uint8_t kWantsAck = 4;
  static constexpr std::uint8_t kImmediate = 8;  // only on a last packet
  static constexpr std::uint8_t kSend = 16;
  static constexpr int kPriorityShift = 5;
  static constexpr std::uint8_t kPriority = 7 << kPriorityShift;
};

struct PacketDetails {
  Bytes length;                    // of the verb, or what is left of a READ
  std::int64_t local_offset = 0;   // in the memory of the queue pair that posted the verb
  std::int64_t remote_offset = 0;  // in the other one's
  Picoseconds left;  // READ: when the request left; in a response: its own, less the time its request took
  std::uint32_t immediate = 0;
};

// What a kFeedback says.
struct FairRate {
  std::uint32_t port = 0;  // the directed link that a switch sends it for
  BitsPerSecond rate;      // that each flow through it should have
};

// The next packet of a queue pair, if it is one of a plain WRITE.
struct PacketPlan {
  std::uint32_t payload_bytes;
  bool is_first;
  bool is_last;
  bool wants_ack;
};

// The next packet of a queue pair, in full.
struct PacketDescription {
  PacketKind kind;
  std::uint8_t flags;
  std::uint32_t psn;
  std::uint32_t payload_bytes;
  PacketDetails details;
  Picoseconds request_took{};  // to get here, if this is a response to a READ
};

}  // namespace simulator
