// Who waits for whom, for people: when nothing moves any more.
#include "engine/departures.h"

namespace simulator {

std::vector<Wait> Engine::waits() {
  catch_up_all();
  std::vector<Wait> waits;
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    const Port& port = ports_[link];
    if (!port.has(Port::kClassed)) continue;
    const ClassedPort& classes = classes_of(port);
    PriorityMask waiting = classes.waiting;
    if (port.has(Port::kOwnerIsHost)) {
      for (const std::uint32_t qp : nics_[port.owner].paused) waiting |= mask_of(senders_[qp].priority());
    }
    for_each_priority(waiting, [&](std::uint32_t priority) {
      if (classes.pauses->is_paused(priority, now_))
        waits.push_back({link, priority, ports_behind(link, priority)});
    });
  }
  return waits;
}

// Ports of the far end where frames wait that came over this link.
std::vector<std::uint32_t> Engine::ports_behind(std::uint32_t link, std::uint32_t priority) const {
  std::vector<std::uint32_t> behind;
  const Node& far = nodes_[links_[link].to];
  if (far.is_host) return behind;
  for (const std::uint32_t next : switches_[far.index].links) {
    bool has_come = false;
    classes_[next].for_each_waiting(
        pool_, priority, [&](PacketIndex at) { has_come |= pool_[at].ingress == (link ^ 1); });
    if (has_come) behind.push_back(next);
  }
  return behind;
}

}  // namespace simulator
