// Input-queued switches of the eager engine.
#include <algorithm>

#include "reference/engine.h"

namespace simulator::reference {

// The one that goes first: in an input-queued switch the first one of the input whose turn it is.
std::deque<Packet>::const_iterator Engine::next_of(const Link& link, const Queue& queue) const {
  if (!link.input) return queue.waiting.begin();
  const std::size_t links = links_.size();
  const auto distance = [&](const Packet& packet) {
    return (link_before(packet) + links - queue.turn) % links;
  };
  return std::min_element(queue.waiting.begin(), queue.waiting.end(),
                          [&](const Packet& a, const Packet& b) { return distance(a) < distance(b); });
}

Packet Engine::take(Link& link, Queue& queue) {
  const auto next = next_of(link, queue);
  Packet packet = *next;
  queue.waiting.erase(next);
  queue.bytes -= packet.frame_bytes;
  if (link.input) queue.turn = link_before(packet) + 1;
  return packet;
}

SharedBuffer& Engine::buffer_at(std::uint32_t number) {
  Link& link = links_[number];
  return link.input ? *link.input : nodes_[link.from].shared_buffer;
}

}  // namespace simulator::reference
