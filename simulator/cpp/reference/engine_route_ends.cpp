// The ends of routes that lead to no host, in the eager engine.
#include <algorithm>

#include "protocol/route_end.h"
#include "reference/engine.h"

namespace simulator::reference {

void Engine::prepare_end(const std::vector<std::uint32_t>& route) {
  if (!is_route_end(route.back())) return;
  const std::uint32_t link = route[route.size() - 2];
  links_[link].has_route_end = true;
  if (route.back() != kFloods) return;
  for (const std::uint32_t out : flooded_ports(link)) links_[out].has_route_end = true;
}

std::vector<std::uint32_t> Engine::flooded_ports(std::uint32_t link) const {
  std::vector<std::uint32_t> ports;
  for (std::uint32_t out = 0; out < links_.size(); ++out) {
    if (links_[out].from == links_[link].to && out != reverse_of(link)) ports.push_back(out);
  }
  return ports;
}

void Engine::end_route(std::uint32_t link, const Packet& packet, std::uint32_t end) {
  --packets_;
  if (end == kExpires) {
    ++links_[link].expired_packets;
    return;
  }
  for (const std::uint32_t out : flooded_ports(link)) {
    Packet copy = packet;
    copy.kind = PacketKind::kStray;
    copy.hop = 1;
    copy.stray_route = static_cast<std::uint32_t>(
        std::find(stray_routes_.begin(), stray_routes_.end(), std::vector{link, out}) -
        stray_routes_.begin());
    if (copy.stray_route == stray_routes_.size()) stray_routes_.push_back({link, out});
    packets_max_ = std::max(packets_max_, ++packets_);
    enqueue(out, copy);
  }
}

}  // namespace simulator::reference
