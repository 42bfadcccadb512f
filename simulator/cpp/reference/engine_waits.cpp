// Who waits for whom, of the eager engine.
#include <algorithm>

#include "reference/engine.h"

namespace simulator::reference {

std::vector<Wait> Engine::waits() const {
  std::vector<Wait> waits;
  for (std::uint32_t number = 0; number < links_.size(); ++number) {
    const Link& link = links_[number];
    for (std::uint32_t priority = kPriorities; priority-- > 0;) {
      if (!link.pauses.is_paused(priority, now_)) continue;
      bool is_waiting = !link.queues[priority].waiting.empty();
      for (const std::uint32_t qp : nodes_[link.from].queue_pairs) {
        is_waiting |= queue_pairs_[qp].priority == priority && queue_pairs_[qp].has_packet();
      }
      if (is_waiting) waits.push_back({number, priority, ports_behind(number, priority)});
    }
  }
  return waits;
}

std::vector<std::uint32_t> Engine::ports_behind(std::uint32_t number, std::uint32_t priority) const {
  std::vector<std::uint32_t> behind;
  if (nodes_[links_[number].to].is_host) return behind;
  for (std::uint32_t next = 0; next < links_.size(); ++next) {
    if (links_[next].from != links_[number].to) continue;
    const std::deque<Packet>& waiting = links_[next].queues[priority].waiting;
    const auto came_over = [&](const Packet& packet) { return route_of(packet)[packet.hop - 1] == number; };
    if (std::any_of(waiting.begin(), waiting.end(), came_over)) behind.push_back(next);
  }
  return behind;
}

}  // namespace simulator::reference
