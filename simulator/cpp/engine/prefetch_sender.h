// What a NIC needs to send the next packet of its first queue pair, step by step into the cache: each step finds what
// the one before has prefetched (engine/prefetch.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/prefetch_lines.h"
#include "engine/world.h"

namespace simulator::prefetch_sender {

inline constexpr std::size_t kRequesterBytes = 10 * kLineBytes;

// The NIC that sends on this link, if a host does.
[[gnu::always_inline]] inline const Nic* nic_of(const World& world, std::uint32_t link) {
  const Port& port = world.ports[link];
  return port.has(Port::kOwnerIsHost) ? world.nics.data() + port.owner : nullptr;
}

// The same, if it has something to send.
[[gnu::always_inline]] inline const Nic* busy_nic_of(const World& world, std::uint32_t link) {
  const Nic* const nic = nic_of(world, link);
  return nic != nullptr && nic->ready.first() != kNever ? nic : nullptr;
}

[[gnu::always_inline]] inline const Requester* requester_of(const World& world, const Nic& nic) {
  const std::uint32_t qp = nic.ready.top().qp();
  return qp < world.reliabilities.size() ? world.reliabilities[qp].requester.get() : nullptr;
}

[[gnu::always_inline]] inline void nic(const World& world, std::uint32_t link) {
  if (const Nic* const found = nic_of(world, link)) __builtin_prefetch(found);
}

[[gnu::always_inline]] inline void first_in_turn(const World& world, std::uint32_t link) {
  if (const Nic* const found = busy_nic_of(world, link)) __builtin_prefetch(&found->ready.top());
}

[[gnu::always_inline]] inline void queue_pair(const World& world, std::uint32_t link) {
  const Nic* const found = busy_nic_of(world, link);
  if (found == nullptr) return;
  const std::uint32_t qp = found->ready.top().qp();
  prefetch_lines(world.senders.data() + qp, sizeof(Sender));
  __builtin_prefetch(world.reliabilities.data() + qp);
}

[[gnu::always_inline]] inline void requester(const World& world, std::uint32_t link) {
  const Nic* const found = busy_nic_of(world, link);
  if (found == nullptr) return;
  __builtin_prefetch(world.limiters.data() + world.senders[found->ready.top().qp()].limiter);
  if (const Requester* const own = requester_of(world, *found)) prefetch_lines(own, kRequesterBytes);
}

[[gnu::always_inline]] inline void parts_of_requester(const World& world, std::uint32_t link) {
  const Nic* const found = busy_nic_of(world, link);
  if (found == nullptr) return;
  if (const Requester* const own = requester_of(world, *found)) own->prefetch();
}

[[gnu::always_inline]] inline void path(const World& world, std::uint32_t link) {
  const Nic* const found = busy_nic_of(world, link);
  if (found == nullptr) return;
  if (const Requester* const own = requester_of(world, *found)) own->prefetch_path();
}

}  // namespace simulator::prefetch_sender
