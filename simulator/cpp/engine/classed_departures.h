// The sending half of ports with a queue for each priority, kept inline: what every packet needs. Pauses, and
// what else is rare, are in engine_classes.cpp.
#pragma once

#include <algorithm>

#include "engine/engine.h"

namespace simulator {

// Inlined everywhere, for mostly there is nothing to do.
[[gnu::always_inline]] inline void Engine::catch_up_classed(Port& port, Picoseconds until) {
  if (port.busy_until > until) return;
  if (!world_.classes_of(port).is_empty()) return send_until(port, until);
  if (port.has(Port::kOwnerIsHost) && world_.nics[port.owner].may_send_until(until)) send_verbs(port, until);
}

[[gnu::noinline]] inline void Engine::send_until(Port& port, Picoseconds until) {
  while (port.busy_until <= until) {
    ClassedPort& classes = world_.classes_of(port);
    if (!classes.is_calm()) [[unlikely]] {
      if (!send_in_turn(port, until)) return;
    } else if (classes.waiting != 0) {
      send_class(port, classes, highest_of(classes.waiting), port.busy_until);
    } else {
      if (port.has(Port::kOwnerIsHost)) send_verbs(port, until);
      return;
    }
  }
}

inline void Engine::send_class(Port& port, ClassedPort& classes, std::uint32_t priority, Picoseconds start) {
  const PacketIndex index = classes.pop(world_.pool, priority);
  const ClassQueue& queue = classes.queues[priority];
  if (queue.bytes > queue.unmarked_max && classes.marker->is_at_departure(priority)) mark(classes, index);
  depart(port, index, start);
  if (classes.has_telemetry) [[unlikely]]
    feedback_.write_telemetry(port, index, start);
  if (!port.has(Port::kOwnerIsHost)) release(port, index, start);
}

// A frame leaves its queue, and with it the account of its ingress.
inline void Engine::release(Port& port, PacketIndex index, Picoseconds start) {
  if (port.has(Port::kEager)) [[unlikely]]
    return release_eagerly(port, index, start);
  const Packet& packet = world_.pool[index];
  IngressAccount& account = world_.ingress_of(packet);
  world_.buffer_of(world_.switches[port.owner], account)
      .release_shared(account, packet.priority(), packet.frame_bytes);
}

inline void Engine::enqueue_classed(std::uint32_t link, PacketIndex index) {
  Port& port = world_.ports[link];
  ClassedPort& classes = world_.classes_of(port);
  std::uint32_t priority = world_.pool[index].priority();
  // While a packet is in flight, the link waits for its arrival, whatever else there is to send.
  const bool must_set_slot = port.in_flight.empty() || port.has(Port::kEager);
  catch_up_classed(port, now_);
  if (classes.queues[priority].bytes + Bytes{world_.pool[index].frame_bytes} > classes.trim_above)
      [[unlikely]]
    priority = trim_if_it_waits(link, index);
  if (classes.has_arrival_aqm()) [[unlikely]]
    return enqueue_with_aqm(link, index, must_set_slot);
  if (classes.inspects(priority, world_.pool[index].is_ecn_capable())) [[unlikely]] {
    if (is_refused(classes, world_.pool[index])) {
      const bool is_blocked = has_priority(classes.counters->blocked, priority);
      return drop_classed(link, index, is_blocked ? PacketFate::kWatchdog : PacketFate::kMarker);
    }
  }
  const ClassQueue& queue = classes.queues[priority];
  if (port.busy_until <= now_ && !classes.is_paused(priority, now_)) {
    if (queue.bytes > queue.unmarked_max) [[unlikely]]
      mark(classes, index);
    depart(port, index, now_);
    if (classes.has_telemetry) [[unlikely]]
      feedback_.write_telemetry(port, index, now_);
    if (classes.has_virtual_queues) [[unlikely]]
      classes.virtual_queues->on_passed(priority, world_.ingress_of(world_.pool[index]).input);
  } else {
    if (!port.has(Port::kOwnerIsHost) && !admit(link, index)) return;
    if (queue.bytes > queue.unmarked_max && !classes.marker->is_at_departure(priority)) mark(classes, index);
    const std::uint32_t input = classes.has_virtual_queues ? world_.ingress_of(world_.pool[index]).input : 0;
    classes.push(world_.pool, priority, index, input);
    if (classes.rocc) [[unlikely]]
      feedback_.start_period(classes);
  }
  if (must_set_slot || port.has(Port::kEager)) set_slot_classed(link);
}

// Finds room for a frame; one that gets none is gone.
inline bool Engine::admit(std::uint32_t link, PacketIndex index) {
  const Port& port = world_.ports[link];
  const Packet& packet = world_.pool[index];
  const std::uint32_t priority = packet.priority();
  IngressAccount& account = world_.ingress_of(packet);
  SharedBuffer& buffer = world_.buffer_of(world_.switches[port.owner], account);
  const bool fits =
      buffer.is_lossless(priority)
          ? buffer.fits(account, priority, packet.frame_bytes)
          : buffer.fits_lossy(world_.classes_of(port).queues[priority].bytes.value, packet.frame_bytes);
  if (!fits) [[unlikely]]
    return admit_exactly(link, index);
  buffer.charge(account, priority, packet.frame_bytes);
  return true;
}

inline void Engine::set_slot_classed(std::uint32_t link) {
  const Port& port = world_.ports[link];
  if (port.has(Port::kEager)) return set_slot_of_special(link);
  if (!port.in_flight.empty())
    return tree_.set_link(port.slot, link, world_.pool[port.in_flight.head].arrival);
  if (port.has(Port::kOwnerIsHost) || !world_.classes_of(port).is_empty()) return set_slot_of_special(link);
  tree_.set_link(port.slot, link, kNever);
}

}  // namespace simulator
