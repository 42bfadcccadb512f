// Who waits for whom, for people: when nothing moves any more.
#include "engine/waits.h"

namespace simulator {

namespace {

// Ports of the far end where frames wait that came over this link.
std::vector<std::uint32_t> ports_behind(const World& world, std::uint32_t link, std::uint32_t priority) {
  std::vector<std::uint32_t> behind;
  const Node& far = world.nodes[world.links[link].to];
  if (far.is_host) return behind;
  for (const std::uint32_t next : world.switches[far.index].links) {
    bool has_come = false;
    world.classes[next].for_each_waiting(world.pool, priority, [&](PacketIndex at) {
      has_come |= world.pool[at].ingress == reverse_of(link);
    });
    if (has_come) behind.push_back(next);
  }
  return behind;
}

}  // namespace

std::vector<Wait> waits_in(const World& world, Picoseconds now) {
  std::vector<Wait> waits;
  for (std::uint32_t link = 0; link < world.ports.size(); ++link) {
    const Port& port = world.ports[link];
    if (!port.has(Port::kClassed)) continue;
    const ClassedPort& classes = world.classes_of(port);
    PriorityMask waiting = classes.waiting;
    if (port.has(Port::kOwnerIsHost)) {
      for (const std::uint32_t qp : world.nics[port.owner].paused)
        waiting |= mask_of(world.senders[qp].priority());
    }
    for_each_priority(waiting, [&](std::uint32_t priority) {
      if (classes.pauses->is_paused(priority, now))
        waits.push_back({link, priority, ports_behind(world, link, priority)});
    });
  }
  return waits;
}

}  // namespace simulator
