// The sending end of a directed link: what is waiting and what is on the wire, in one cache line.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "engine/packet_pool.h"
#include "protocol/link_loss.h"

namespace simulator {

struct alignas(64) Port {
  static constexpr std::uint16_t kOwnerIsHost = 1;
  static constexpr std::uint16_t kPeerIsHost = 2;
  static constexpr std::uint16_t kSharedBuffer = 4;  // the owner's buffer is bounded
  static constexpr std::uint16_t kLossy = 8;
  static constexpr std::uint16_t kClassed = 16;         // has a ClassedPort
  static constexpr std::uint16_t kSlowlyReceived = 32;  // the peer is a NIC with a ReceiveBuffer
  static constexpr std::uint16_t kRouteEnds = 64;       // routes may end behind it that lead to no host
  static constexpr std::uint16_t kEager = 128;  // the owner is a switch that pauses somebody, or a paused NIC

  static constexpr std::uint16_t kRecorded = 256;     // in the log of packets
  static constexpr std::uint16_t kPeerChooses = 512;  // the peer is a switch that asks a part from outside
  static constexpr std::uint16_t kLooksAtArrivals = kLossy | kSlowlyReceived | kRouteEnds | kRecorded;

  Picoseconds busy_until;   // the packet on the wire has left by then
  Bytes waiting_bytes;      // frames in `waiting`
  Bytes waiting_bytes_max;  // since the last sample
  Bytes sent_bytes;         // frames whose sending has begun
  PacketFifo waiting;
  PacketFifo in_flight;     // begun, not yet at the far end
  std::uint32_t slot = 0;   // of the link, in the winner tree
  std::uint32_t owner = 0;  // switch or NIC
  std::uint16_t speed = 0;
  std::uint16_t flags = 0;

  bool has(std::uint16_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Port) == 64);

// Shared by all links of the same kind.
struct LinkSpeed {
  double ps_per_byte;
  Picoseconds delay;
  BitsPerSecond rate;
  std::int64_t whole_ps_per_byte;  // the same, of nearly all rates; 0: it is not whole

  LinkSpeed(BitsPerSecond link_rate, Picoseconds link_delay)
      : ps_per_byte(picoseconds_per_byte(link_rate)),
        delay(link_delay),
        rate(link_rate),
        whole_ps_per_byte(is_whole() ? static_cast<std::int64_t>(ps_per_byte) : 0) {}

  bool is_whole() const { return std::floor(ps_per_byte) == ps_per_byte; }

  // The next event often waits for it, and integers are done sooner.
  Picoseconds duration(Bytes wire) const {
    if (whole_ps_per_byte != 0) [[likely]]
      return {wire.value * whole_ps_per_byte};
    return duration_of(wire, ps_per_byte);
  }
};

// What a link needs rarely.
struct LinkRecord {
  std::uint32_t from;
  std::uint32_t to;
  LinkLoss loss;
  std::int64_t lost_packets = 0;
  Bytes lost_bytes;
  std::int64_t dropped_packets = 0;  // refused by the buffer in front of it
  std::int64_t dropped_packets_sampled = 0;
  std::int64_t expired_packets = 0;  // ended behind it, after too many hops
  std::int64_t stray_packets = 0;    // ended behind it, for that was not where they belonged
};

}  // namespace simulator
