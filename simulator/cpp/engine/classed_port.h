// Additional state of a port with priorities: a queue for each priority.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "base/units.h"
#include "cc/rocc.h"
#include "cc/switch_control.h"
#include "engine/packet_pool.h"
#include "engine/port.h"
#include "protocol/marker.h"
#include "protocol/packet_kind.h"
#include "protocol/pause_state.h"
#include "protocol/response_queue.h"
#include "protocol/shared_buffer.h"

namespace simulator {

struct ClassQueue {
  PacketFifo packets;  // unless the port has virtual queues
  Bytes bytes;
  Bytes bytes_max;                              // since the last sample
  Bytes unmarked_max = Marker::kNothingMarked;  // no packet is marked while no more waits
};

// Of a port and its priorities, for people; and what is so rarely needed that the port has no room for it.
struct ClassCounters {
  struct OfPriority {
    std::int64_t dropped_packets_sampled = 0;
    std::int64_t dropped_packets = 0;
    std::int64_t marked_packets_sampled = 0;
    std::int64_t marked_packets = 0;
  };

  std::array<OfPriority, kPriorities> priorities{};
  std::optional<TrimmingConfiguration> trimming{};
  std::optional<RandomStream> trimming_coin{};
  std::unique_ptr<SwitchControl> aqm{};  // of packets, from outside
  PriorityMask blocked = 0;              // by the watchdog: what comes is dropped
  std::uint32_t refresh_timer = 0;
  std::uint32_t watchdog_timer = 0;
  std::int64_t trimmed_packets = 0;
  Bytes trimmed;                  // that were cut off
  Bytes sent_on_wire;             // if the port has telemetry
  std::int64_t pause_frames = 0;  // sent to pause or resume the far end of its link
  std::int64_t lossless_drops = 0;
  std::int64_t watchdog_fired = 0;
};

// Fields that every packet needs come first: for the lowest priority they are one cache line. The size is an odd number
// of lines, so that those lines of all ports spread over the whole cache.
struct alignas(64) ClassedPort {
  static constexpr std::uint8_t kWeighted = 1;
  static constexpr std::uint8_t kAqmAtDeparture = 2;
  static constexpr std::uint8_t kAqmAtArrival = 4;
  static constexpr Bytes kNothingTrimmed{std::numeric_limits<std::int64_t>::max()};

  PriorityMask waiting = 0;        // queues that are not empty
  PriorityMask may_be_paused = 0;  // priorities that may be paused: the copy of pauses->may_be_paused()
  PriorityMask inspected = 0;      // priorities whose arrivals marker or watchdog want to see
  PriorityMask inspected_without_ecn = 0;  // the same, of packets that are not ECN-capable
  bool is_pause_frame_due = false;
  bool has_telemetry = false;
  std::uint8_t policies = 0;  // kWeighted, kAqmAtDeparture, kAqmAtArrival
  bool has_virtual_queues = false;
  Bytes trim_above = kNothingTrimmed;
  std::unique_ptr<Marker> marker{};
  std::unique_ptr<PauseState> pauses{};
  std::array<ClassQueue, kPriorities> queues{};
  std::unique_ptr<WeightedTurns> turns{};
  std::unique_ptr<VirtualQueues> virtual_queues{};  // of an input-queued switch
  std::unique_ptr<RoccPort> rocc{};
  std::unique_ptr<ClassCounters> counters{};

  void open() {
    pauses = std::make_unique<PauseState>();
    counters = std::make_unique<ClassCounters>();
  }

  bool is_empty() const { return waiting == 0 && !is_pause_frame_due; }

  // Waiting frames leave by priority, without a gap.
  bool is_calm() const {
    return may_be_paused == 0 && !is_pause_frame_due && (policies & (kWeighted | kAqmAtDeparture)) == 0;
  }
  bool has_turns() const { return (policies & kWeighted) != 0; }
  bool has_departure_aqm() const { return (policies & kAqmAtDeparture) != 0; }
  bool has_arrival_aqm() const { return (policies & kAqmAtArrival) != 0; }

  bool is_paused(std::uint32_t priority, Picoseconds now) const {
    return may_be_paused != 0 && pauses->is_paused(priority, now);
  }

  bool inspects(std::uint32_t priority, bool is_ecn_capable) const {
    return has_priority(is_ecn_capable ? inspected : inspected_without_ecn, priority);
  }

  void use_marker(Marker rules) {
    for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
      queues[priority].unmarked_max = rules.unmarked_max(priority);
    }
    marker = std::make_unique<Marker>(std::move(rules));
    inspect_arrivals();
  }

  void inspect_arrivals() {
    inspected =
        static_cast<PriorityMask>(counters->blocked | (marker ? marker->inspected() : PriorityMask{0}));
    inspected_without_ecn =
        static_cast<PriorityMask>(inspected | (marker ? marker->with_rules() : PriorityMask{0}));
  }

  void use_aqm(std::unique_ptr<SwitchControl> aqm) {
    counters->aqm = std::move(aqm);
    policies |= kAqmAtArrival;
    if (counters->aqm->sees_departures()) policies |= kAqmAtDeparture;
  }

  void use_trimming(const TrimmingConfiguration& configuration, const RandomStream& coin) {
    counters->trimming = configuration;
    if (configuration.by_coin) counters->trimming_coin = coin;
    trim_above = configuration.above.value_or(kNothingTrimmed);
  }

  // When the first of the waiting priorities may be sent, if the port is free at `from`; kNever if all are
  // paused.
  Picoseconds earliest(Picoseconds from) const {
    if ((waiting & ~may_be_paused) != 0) [[likely]]
      return from;
    Picoseconds first = kNever;
    for_each_priority(waiting, [&](std::uint32_t priority) {
      first = std::min(first, std::max(from, pauses->paused_until(priority)));
    });
    return first;
  }

  // The priority that goes first at that instant; one of them may.
  std::uint32_t next(const PacketPool& pool, Picoseconds at) {
    PriorityMask may_go = waiting;
    for_each_priority(may_go & may_be_paused, [&](std::uint32_t priority) {
      if (pauses->is_paused(priority, at)) may_go &= static_cast<PriorityMask>(~mask_of(priority));
    });
    if (!has_turns()) [[likely]]
      return highest_of(may_go);
    return turns->next(
        may_go, [&](std::uint32_t priority) { return std::int64_t{pool[front(priority)].frame_bytes}; });
  }

  PacketIndex front(std::uint32_t priority) const {
    return has_virtual_queues ? virtual_queues->front(priority) : queues[priority].packets.head;
  }

  // `input` is where the packet came in, of an input-queued switch.
  void push(PacketPool& pool, std::uint32_t priority, PacketIndex index, std::uint32_t input) {
    ClassQueue& queue = queues[priority];
    if (has_virtual_queues) [[unlikely]]
      virtual_queues->push(pool, priority, input, index);
    else
      queue.packets.push(pool, index);
    queue.bytes.value += pool[index].frame_bytes;
    queue.bytes_max = std::max(queue.bytes_max, queue.bytes);
    waiting |= mask_of(priority);
  }

  PacketIndex pop(const PacketPool& pool, std::uint32_t priority) {
    ClassQueue& queue = queues[priority];
    const PacketIndex index =
        has_virtual_queues ? virtual_queues->pop(pool, priority) : pop_first(pool, queue.packets);
    on_popped(pool, priority, index);
    return index;
  }

  // The newest waiting packet of a priority and an input; kNoPacket if none waits.
  PacketIndex newest(std::uint32_t priority, std::uint32_t input) const {
    return has_virtual_queues ? virtual_queues->newest(priority, input) : queues[priority].packets.newest();
  }

  PacketIndex pop_newest(PacketPool& pool, std::uint32_t priority, std::uint32_t input) {
    const PacketIndex index = has_virtual_queues ? virtual_queues->pop_newest(pool, priority, input)
                                                 : queues[priority].packets.pop_newest(pool);
    on_popped(pool, priority, index);
    return index;
  }

  // Calls `visit(index)` for all packets of a priority that wait.
  template <class Visit>
  void for_each_waiting(const PacketPool& pool, std::uint32_t priority, Visit&& visit) const {
    const auto visit_all = [&](const PacketFifo& queue) {
      for (PacketIndex at = queue.head; at != kNoPacket; at = pool[at].next) visit(at);
    };
    if (!has_virtual_queues) return visit_all(queues[priority].packets);
    virtual_queues->for_each_queue(priority, visit_all);
  }

 private:
  void on_popped(const PacketPool& pool, std::uint32_t priority, PacketIndex index) {
    ClassQueue& queue = queues[priority];
    queue.bytes.value -= pool[index].frame_bytes;
    if (queue.bytes.value != 0) return;
    waiting &= static_cast<PriorityMask>(~mask_of(priority));
    if (has_turns()) [[unlikely]]
      turns->on_empty(priority);
  }

  static PacketIndex pop_first(const PacketPool& pool, PacketFifo& packets) {
    const PacketIndex index = packets.pop(pool);
    if (!packets.empty()) pool.prefetch(packets.head);
    return index;
  }
};
static_assert(sizeof(ClassedPort) / 64 % 2 == 1);

}  // namespace simulator
