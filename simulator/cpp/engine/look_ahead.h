// Asking for memory before it is needed, in networks that do not fit into the cache. In others this costs more
// than it gains.
//
// The winners of parts of the tree are links that come up soon: the smaller the part, the later. Whenever a
// link has fired, each part that it belongs to has a new winner. So every link passes through these steps,
// about a hundred to six events before it fires, and each finds there what the one before asked for.
#pragma once

#include <algorithm>

#include "engine/engine.h"

namespace simulator {

// A link has fired, and waits for its next packet. These are always inline: otherwise gcc drops their calls, for
// it sees no effect.
[[gnu::always_inline]] inline void Engine::look_ahead(std::uint32_t link) {
  if (!looks_ahead_) return;
  Port& port = ports_[link];
  if (!port.in_flight.empty()) port.second_in_flight = pool_[port.in_flight.head].next;
  const std::uint32_t part = tree_.part_of(link, 4);
  ask_for_port(tree_.next_link_of(part));
  ask_for_packets(tree_.next_link_of(part / 4));
  ask_for_way(tree_.next_link_of(part / 16));
}

[[gnu::always_inline]] inline void Engine::ask_for_port(std::uint32_t link) const {
  __builtin_prefetch(ports_.data() + link);
  if (!classes_.empty()) __builtin_prefetch(classes_.data() + link);
}

// The packet that arrives, the one behind it, and the one that may leave.
[[gnu::always_inline]] inline void Engine::ask_for_packets(std::uint32_t link) const {
  const Port& port = ports_[link];
  pool_.prefetch(port.in_flight.head);
  pool_.prefetch(port.second_in_flight);
  pool_.prefetch(port.has(Port::kClassed) ? classes_[link].queues[0].packets.head : port.waiting.head);
}

// Where the packet that arrives goes.
[[gnu::always_inline]] inline void Engine::ask_for_way(std::uint32_t link) const {
  const Port& port = ports_[link];
  if (port.in_flight.empty()) return;
  __builtin_prefetch(routes_.data() + pool_[port.in_flight.head].position + 1);
}

}  // namespace simulator
