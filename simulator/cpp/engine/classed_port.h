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
#include "protocol/marker.h"
#include "protocol/pause_pool.h"
#include "protocol/pause_state.h"
#include "protocol/priorities.h"

namespace simulator {

struct ClassQueue {
  PacketFifo packets;
  Bytes bytes;
  Bytes bytes_max;  // since the last sample
  std::int64_t dropped_packets_sampled = 0;
  std::int64_t dropped_packets = 0;
  std::int64_t marked_packets_sampled = 0;
  std::int64_t marked_packets = 0;
};

struct ClassedPort {
  std::array<ClassQueue, kPriorities> queues{};
  std::optional<Marker> marker{};
  std::unique_ptr<RoccPort> rocc{};
  bool has_telemetry = false;
  PriorityMask waiting = 0;  // queues that are not empty
  bool is_pause_frame_due = false;
  PauseState pauses{};
  // Of a switch: frames that came in over this link the other way, and how often its far end was told to
  // pause.
  IngressAccount ingress{};
  std::int64_t pause_frames = 0;
  std::int64_t lossless_drops = 0;
  std::uint32_t refresh_timer = 0;
  bool is_refresh_pending = false;

  // When the first of the waiting priorities may be sent, if the port is free at `from`; kNever if all are
  // paused.
  Picoseconds earliest(Picoseconds from) const {
    Picoseconds first = kNever;
    for_each_priority(waiting, [&](std::uint32_t priority) {
      first = std::min(first, std::max(from, pauses.paused_until(priority)));
    });
    return first;
  }

  // The priority that goes first at that instant; one of them may.
  std::uint32_t next(Picoseconds at) const {
    PriorityMask may_go = waiting;
    while (pauses.is_paused(highest(may_go), at))
      may_go &= static_cast<PriorityMask>(~mask_of(highest(may_go)));
    return highest(may_go);
  }

  void push(PacketPool& pool, std::uint32_t priority, PacketIndex index) {
    ClassQueue& queue = queues[priority];
    queue.packets.push(pool, index);
    queue.bytes.value += pool[index].frame_bytes;
    queue.bytes_max = std::max(queue.bytes_max, queue.bytes);
    waiting |= mask_of(priority);
  }

  PacketIndex pop(const PacketPool& pool, std::uint32_t priority) {
    ClassQueue& queue = queues[priority];
    const PacketIndex index = queue.packets.pop(pool);
    queue.bytes.value -= pool[index].frame_bytes;
    if (queue.packets.empty()) waiting &= static_cast<PriorityMask>(~mask_of(priority));
    return index;
  }

 private:
  static std::uint32_t highest(PriorityMask mask) {
    return static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(mask))) - 1;
  }
};

}  // namespace simulator
