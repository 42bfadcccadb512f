// Prefetching memory before it is needed, in networks that do not fit into the cache. In others this costs
// more than it gains.
//
// The winners of parts of the tree are links that come up soon: the smaller the part, the later. Whenever a
// link has fired, each part that it belongs to has a new winner. So every link passes through these steps,
// about a hundred to six events before it fires, and each finds there what the one before has prefetched.
#pragma once

#include <cstdint>

#include "engine/winner_tree.h"
#include "engine/world.h"

namespace simulator {

// These are always inline: otherwise gcc drops their calls, for it sees no effect.
[[gnu::always_inline]] inline void prefetch_port(const World& world, std::uint32_t link) {
  __builtin_prefetch(world.ports.data() + link);
  if (!world.classes.empty()) __builtin_prefetch(world.classes.data() + link);
}

// The packet that arrives, the one behind it, and the one that may leave.
[[gnu::always_inline]] inline void prefetch_packets(const World& world, std::uint32_t link) {
  const Port& port = world.ports[link];
  world.pool.prefetch(port.in_flight.head);
  world.pool.prefetch(port.second_in_flight);
  world.pool.prefetch(port.has(Port::kClassed) ? world.classes[link].queues[0].packets.head
                                               : port.waiting.head);
}

// Where the packet that arrives goes.
[[gnu::always_inline]] inline void prefetch_route(const World& world, std::uint32_t link) {
  const Port& port = world.ports[link];
  if (port.in_flight.empty()) return;
  const Packet& packet = world.pool[port.in_flight.head];
  if (!packet.is_sprayed()) __builtin_prefetch(world.routes.data() + packet.position + 1);
}

// A link has fired, and waits for its next packet.
[[gnu::always_inline]] inline void prefetch_after(World& world, const WinnerTree& tree, std::uint32_t link) {
  Port& port = world.ports[link];
  if (!port.in_flight.empty()) port.second_in_flight = world.pool[port.in_flight.head].next;
  const std::uint32_t part = tree.part_of(link, 4);
  prefetch_port(world, tree.next_link_of(part));
  prefetch_packets(world, tree.next_link_of(part / 4));
  prefetch_route(world, tree.next_link_of(part / 16));
}

}  // namespace simulator
