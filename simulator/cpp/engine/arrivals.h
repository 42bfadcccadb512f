// Arrival of a packet at a switch, inline.
#pragma once

#include <algorithm>

#include "engine/departures.h"
#include "engine/engine.h"

namespace simulator {

// The packet that the link's slot has waited for.
[[gnu::always_inline]] inline PacketIndex Engine::take_arrived(Port& port, std::uint32_t link) {
  const PacketIndex index = port.in_flight.head;
  SIM_CHECK(index != kNoPacket && world_.pool[index].arrival == now_, now_, world_.port_name(link),
            "the packet that the link waited for does not arrive now");
  port.in_flight.pop(world_.pool);
  return index;
}

// The next link of a packet that arrived at a switch over `link`.
[[gnu::always_inline]] inline std::uint32_t Engine::next_link(std::uint32_t link, PacketIndex index) {
  Packet& packet = world_.pool[index];
  if (packet.is_sprayed()) [[unlikely]] {
    if (world_.ports[link].has(Port::kPeerSelectsPort) && packet.kind != PacketKind::kAcknowledgement)
        [[unlikely]]
      return select_port(link, index);
    return forwarding_.next_link(link, packet);
  }
  return world_.routes[++packet.position];
}

[[gnu::always_inline]] inline void Engine::arrive_at_switch(std::uint32_t link, PacketIndex index) {
  ++packet_hops_;
  if (world_.ports[link].has(Port::kInspectsArrivals)) [[unlikely]] {
    if (ends_on_arrival(link, index)) return;
  }
  world_.pool[index].ingress = reverse_of(link);
  enqueue_at_switch(next_link(link, index), index);
}

[[gnu::always_inline]] inline void Engine::enqueue_at_switch(std::uint32_t link, PacketIndex index) {
  Port& port = world_.ports[link];
  if (port.has(Port::kClassed)) [[unlikely]]
    return enqueue_classed(link, index);
  catch_up_switch(port);
  if (port.busy_until <= now_) return start_now(link, index);
  const std::uint32_t frame_bytes = world_.pool[index].frame_bytes;
  if (port.has(Port::kSharedBuffer)) {
    if (!admits(port, frame_bytes)) return drop(link, index, PacketFate::kBuffer);
    world_.switches[port.owner].used += frame_bytes;
  }
  port.waiting.push(world_.pool, index);
  port.waiting_bytes.value += frame_bytes;
  port.waiting_bytes_max = std::max(port.waiting_bytes_max, port.waiting_bytes);
}

}  // namespace simulator
