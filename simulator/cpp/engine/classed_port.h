// What a port has besides, if priority flow control acts on it: a queue for each priority.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/units.h"
#include "cc/rocc_point.h"
#include "engine/packet_pool.h"
#include "engine/virtual_queues.h"
#include "protocol/marker.h"
#include "protocol/pause_pool.h"
#include "protocol/pause_state.h"
#include "protocol/priorities.h"
#include "protocol/weighted_turns.h"

namespace simulator {

struct ClassQueue {
  PacketFifo packets;  // unless the port has virtual queues
  Bytes bytes;
  Bytes bytes_max;  // since the last sample
  std::int64_t dropped_packets_sampled = 0;
  std::int64_t dropped_packets = 0;
  std::int64_t marked_packets_sampled = 0;
  std::int64_t marked_packets = 0;
};

struct ClassedPort {
  PriorityMask waiting = 0;  // queues that are not empty
  bool is_pause_frame_due = false;
  PauseState pauses{};
  std::array<ClassQueue, kPriorities> queues{};
  std::optional<Marker> marker{};
  std::optional<WeightedTurns> turns{};
  std::unique_ptr<VirtualQueues> virtual_queues{};  // of an input-queued switch
  std::unique_ptr<RoccPort> rocc{};
  bool has_telemetry = false;
  // Of a switch: frames that came in over this link the other way, and how often its far end was told to
  // pause.
  IngressAccount ingress{};
  std::int64_t pause_frames = 0;
  std::int64_t lossless_drops = 0;
  std::uint32_t refresh_timer = 0;
  std::uint32_t watchdog_timer = 0;
  PriorityMask shut = 0;  // by the watchdog: what comes is dropped
  std::int64_t watchdog_fired = 0;
  bool is_refresh_pending = false;

  // When the first of the waiting priorities may be sent, if the port is free at `from`; kNever if all are
  // paused.
  Picoseconds earliest(Picoseconds from) const {
    if ((waiting & ~pauses.told()) != 0) [[likely]]
      return from;
    Picoseconds first = kNever;
    for_each_priority(waiting, [&](std::uint32_t priority) {
      first = std::min(first, std::max(from, pauses.paused_until(priority)));
    });
    return first;
  }

  // The priority that goes first at that instant; one of them may.
  std::uint32_t next(const PacketPool& pool, Picoseconds at) {
    PriorityMask may_go = waiting;
    for_each_priority(may_go & pauses.told(), [&](std::uint32_t priority) {
      if (pauses.is_paused(priority, at)) may_go &= static_cast<PriorityMask>(~mask_of(priority));
    });
    if (!turns) [[likely]]
      return highest_of(may_go);
    return turns->next(may_go, [&](std::uint32_t priority) {
      return std::int64_t{pool[front(priority)].frame_bytes};
    });
  }

  PacketIndex front(std::uint32_t priority) const {
    return virtual_queues ? virtual_queues->front(priority) : queues[priority].packets.head;
  }

  // `input` is where the packet came in, of an input-queued switch.
  void push(PacketPool& pool, std::uint32_t priority, PacketIndex index, std::uint32_t input) {
    ClassQueue& queue = queues[priority];
    if (virtual_queues) [[unlikely]]
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
        virtual_queues ? virtual_queues->pop(pool, priority) : queue.packets.pop(pool);
    queue.bytes.value -= pool[index].frame_bytes;
    if (queue.bytes.value != 0) return index;
    waiting &= static_cast<PriorityMask>(~mask_of(priority));
    if (turns) [[unlikely]]
      turns->on_empty(priority);
    return index;
  }

  // Calls `visit(index)` for all packets of a priority that wait.
  template <class Visit>
  void for_each_waiting(const PacketPool& pool, std::uint32_t priority, Visit&& visit) const {
    const auto visit_all = [&](const PacketFifo& queue) {
      for (PacketIndex at = queue.head; at != kNoPacket; at = pool[at].next) visit(at);
    };
    if (!virtual_queues) return visit_all(queues[priority].packets);
    virtual_queues->for_each_queue(priority, visit_all);
  }
};

}  // namespace simulator
