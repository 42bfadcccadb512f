// A port: its queues, and the virtual queues that mark early.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "engine/packet_pool.h"
#include "protocol/fault.h"
#include "protocol/packet_kind.h"

namespace simulator {

// The sending end of a directed link: what is waiting and what is on the wire, in one cache line.
struct alignas(64) Port {
  static constexpr std::uint16_t kOwnerIsHost = 1;
  static constexpr std::uint16_t kPeerIsHost = 2;
  static constexpr std::uint16_t kSharedBuffer = 4;  // the owner's buffer is bounded
  static constexpr std::uint16_t kLossy = 8;
  static constexpr std::uint16_t kClassed = 16;         // has a ClassedPort
  static constexpr std::uint16_t kSlowlyReceived = 32;  // the peer is a NIC with a ReceiveBuffer
  static constexpr std::uint16_t kRouteEnds = 64;       // routes may end behind it that lead to no host
  static constexpr std::uint16_t kEager = 128;  // the owner is a switch that pauses a link, or a paused NIC

  static constexpr std::uint16_t kRecorded = 256;         // in the log of packets
  static constexpr std::uint16_t kPeerSelectsPort = 512;  // the peer is a switch whose plug-in chooses
  static constexpr std::uint16_t kHasEvents = 1024;       // of single packets behind it
  static constexpr std::uint16_t kInspectsArrivals =
      kLossy | kSlowlyReceived | kRouteEnds | kRecorded | kHasEvents;

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

// Rarely needed fields of a link.
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

// Virtual output queues: the frames that wait for a port of an input-queued switch, by priority and input. The inputs
// take turns, frame by frame, in the order of their numbers; the next turn is that of the first input with something to
// send after the one served last.
// Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, section 4.1 (queues, round robin);
// McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999, section II (where the turns continue).
class VirtualQueues {
 public:
  void push(PacketPool& pool, std::uint32_t priority, std::uint32_t input, PacketIndex index) {
    Inputs& inputs = inputs_[priority];
    if (inputs.queues.size() <= input) inputs.grow(input + 1);
    inputs.queues[input].push(pool, index);
    inputs.waiting[input / kBits] |= bit_of(input);
  }

  // Of a priority with something to send.
  PacketIndex front(std::uint32_t priority) const {
    const Inputs& inputs = inputs_[priority];
    return inputs.queues[inputs.first_from(inputs.turn)].head;
  }

  PacketIndex pop(const PacketPool& pool, std::uint32_t priority) {
    Inputs& inputs = inputs_[priority];
    const std::uint32_t input = inputs.first_from(inputs.turn);
    PacketFifo& queue = inputs.queues[input];
    const PacketIndex index = queue.pop(pool);
    if (queue.empty()) inputs.waiting[input / kBits] &= ~bit_of(input);
    inputs.turn = input + 1;
    return index;
  }

  // The newest waiting packet; kNoPacket if none waits.
  PacketIndex newest(std::uint32_t priority, std::uint32_t input) const {
    const Inputs& inputs = inputs_[priority];
    return input < inputs.queues.size() ? inputs.queues[input].newest() : kNoPacket;
  }

  PacketIndex pop_newest(PacketPool& pool, std::uint32_t priority, std::uint32_t input) {
    Inputs& inputs = inputs_[priority];
    PacketFifo& queue = inputs.queues[input];
    const PacketIndex index = queue.pop_newest(pool);
    if (queue.empty()) inputs.waiting[input / kBits] &= ~bit_of(input);
    return index;
  }

  // A frame of this input has left without waiting.
  void on_passed(std::uint32_t priority, std::uint32_t input) { inputs_[priority].turn = input + 1; }

  template <class Visit>
  void for_each_queue(std::uint32_t priority, Visit&& visit) const {
    for (const PacketFifo& queue : inputs_[priority].queues) visit(queue);
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  static constexpr std::uint64_t bit_of(std::uint32_t input) { return std::uint64_t{1} << (input % kBits); }

  struct Inputs {
    std::vector<PacketFifo> queues{};
    std::vector<std::uint64_t> waiting{};  // bit i: input i has something to send
    std::uint32_t turn = 0;                // of this input, or of the next one behind it

    void grow(std::uint32_t size) {
      queues.resize(size);
      waiting.resize((size + kBits - 1) / kBits);
    }

    std::uint32_t first_from(std::uint32_t input) const {
      const auto words = static_cast<std::uint32_t>(waiting.size());
      if (input >= words * kBits) input = 0;
      std::uint32_t word = input / kBits;
      std::uint64_t bits = waiting[word] & ~(bit_of(input) - 1);
      while (bits == 0) {
        word = (word + 1) % words;
        bits = waiting[word];
      }
      return word * kBits + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
  };

  std::array<Inputs, kPriorities> inputs_{};
};

}  // namespace simulator
