// Kinds, priorities and sequence numbers of packets.
#pragma once

#include <bit>
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
  kData,             // of a queue pair with a Reliability
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

// True if the packet carries bytes of a verb. A READ request carries none but may be marked.
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

// Content of a kFeedback packet.
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

// The eight priorities of a frame. A larger number goes first. Source: IEEE 802.1Q, priority code point and
// strict priority algorithm.
inline constexpr std::uint32_t kPriorities = 8;

using PriorityMask = std::uint8_t;  // bit p stands for priority p

constexpr PriorityMask mask_of(std::uint32_t priority) {
  return static_cast<PriorityMask>(1U << priority);
}
constexpr bool has_priority(PriorityMask mask, std::uint32_t priority) {
  return ((mask >> priority) & 1) != 0;
}
constexpr int count_of(PriorityMask mask) {
  return std::popcount(mask);
}

// Of a mask that is not empty.
constexpr std::uint32_t highest_of(PriorityMask mask) {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(mask))) - 1;
}

// Calls `visit(priority)` for each one in the mask, the largest first.
template <class Visit>
constexpr void for_each_priority(PriorityMask mask, Visit&& visit) {
  while (mask != 0) {
    const std::uint32_t priority = highest_of(mask);
    mask &= static_cast<PriorityMask>(~mask_of(priority));
    visit(priority);
  }
}

// Packet sequence numbers: 24 bits on the wire, counted in 64 bits at both ends.

// A running number starts one round above the number on the wire, so that nothing before it is negative.
inline constexpr std::uint64_t kPsnRound = std::uint64_t{1} << 24;

// The part of a running number that a packet carries.
constexpr std::uint32_t packet_psn(std::uint64_t running) {
  return static_cast<std::uint32_t>(running) & (static_cast<std::uint32_t>(kPsnRound) - 1);
}

// Distance of a packet's number ahead of a running number, from -2^23 to 2^23 - 1.
// Source: InfiniBand architecture, volume 1, 9.7.2 (PSN comparison, modulo 2^24).
constexpr std::int32_t psn_distance(std::uint32_t psn, std::uint64_t running) {
  return static_cast<std::int32_t>((psn - static_cast<std::uint32_t>(running)) << 8) >> 8;
}

}  // namespace simulator
