// Packets live in one pool and are known by their index. Sequence numbers are the low 32 bits of a running
// 64-bit number.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "base/units.h"
#include "cc/controller.h"
#include "protocol/packet_kind.h"
#include "protocol/pause_state.h"

namespace simulator {

using PacketIndex = std::uint32_t;
inline constexpr PacketIndex kNoPacket = std::numeric_limits<PacketIndex>::max();

struct Packet {
  static constexpr std::uint32_t kMarked = std::uint32_t{1} << 31;  // in `psn`, whose numbers have 24 bits
  static constexpr std::uint32_t kNotEcnCapable = std::uint32_t{1} << 30;
  static constexpr std::uint32_t kCorrupt = std::uint32_t{1} << 29;  // its ICRC is wrong
  static constexpr std::uint32_t kSprayed = std::uint32_t{1} << 31;  // in `position`

  Picoseconds arrival;     // at the far end of the link it is on
  PacketIndex next;        // in the queue, on the link, or in the free list
  std::uint32_t position;  // in the table of routes: entry of the link it is on; its path if it is sprayed
  std::uint32_t ingress;   // at a switch: the link back to where it came from, whose account it is charged to
  std::uint32_t qp;        // receiving queue pair, or datagram queue pair
  union {
    std::uint32_t psn;       // and whether it is marked, or may not be, or is corrupt
    PauseFrame pause_frame;  // of a kPause
  };
  std::uint16_t frame_bytes;
  PacketKind kind;
  std::uint8_t flags;  // and, in the upper bits, the priority

  bool is_marked() const { return (psn & kMarked) != 0; }
  bool is_corrupt() const { return (psn & kCorrupt) != 0; }
  bool is_marked_or_corrupt() const { return (psn & (kMarked | kCorrupt)) != 0; }
  bool is_ecn_capable() const { return (psn & kNotEcnCapable) == 0; }
  bool is_sprayed() const { return (position & kSprayed) != 0; }
  std::uint32_t path() const { return position & ~kSprayed; }
  std::uint32_t priority() const { return flags >> PacketFlags::kPriorityShift; }
};
static_assert(sizeof(Packet) == 32);

// Data that a packet carries for a congestion control with acknowledgements, and that they return.
struct Stamp {
  Picoseconds sent = kNever;  // when it began to leave
  bool is_marked = false;     // when it came
};

// Telemetry of the ports on a packet's path; the acknowledgement returns it.
struct Telemetry {
  std::uint32_t hops = 0;
  std::array<HopRecord, kHopsMax> records{};

  void add(const HopRecord& record) {
    if (hops < kHopsMax) records[hops++] = record;
  }
};

// That of a queue pair whose control wants it.
using CarriedTelemetry = std::optional<Telemetry>;

inline std::span<const HopRecord> hops_of(const CarriedTelemetry& telemetry) {
  if (!telemetry) return {};
  return {telemetry->records.data(), telemetry->hops};
}

}  // namespace simulator
