// The ends of routes that lead to no host: packets expire in a loop, or a switch floods them.
#include "engine/route_ends.h"

#include "engine/departures.h"
#include "protocol/route_end.h"

namespace simulator {

// The engine asks for every packet behind the last link of such a route. A copy's route has one entry: the
// link that it takes.
void RouteEnds::prepare(const std::vector<std::uint32_t>& route) {
  if (!is_route_end(route.back())) return;
  const std::uint32_t link = route[route.size() - 2];
  world_.ports[link].flags |= Port::kRouteEnds;
  if (route.back() != kFloods || floods_.contains(link)) return;
  floods_[link] = static_cast<std::uint32_t>(world_.routes.size());
  for (const std::uint32_t out : world_.switches[world_.switch_behind(link)].links) {
    if (out == reverse_of(link)) continue;
    world_.routes.push_back(out);
    world_.ports[out].flags |= Port::kRouteEnds;
  }
}

// Returns whether the packet goes no further. A packet that is not at a host has a next entry in its route, if
// it has a route.
bool RouteEnds::on_arrival(std::uint32_t link, PacketIndex index) {
  if (world_.pool[index].kind == PacketKind::kStray) {
    engine_.record(link, index, PacketFate::kStray);
    ++world_.links[link].stray_packets;
    world_.pool.free(index);
    return true;
  }
  if (world_.ports[link].has(Port::kPeerIsHost) || world_.pool[index].is_sprayed()) return false;
  const std::uint32_t next = world_.routes[world_.pool[index].position + 1];
  if (!is_route_end(next)) return false;
  engine_.record(link, index, next == kFloods ? PacketFate::kFlooded : PacketFate::kExpired);
  if (next == kFloods) {
    flood(link, index);
  } else {
    ++world_.links[link].expired_packets;
  }
  engine_.forget(index);
  return true;
}

// Each copy is charged to the ingress, as a frame of its own.
void RouteEnds::flood(std::uint32_t link, PacketIndex index) {
  std::uint32_t position = floods_.at(link);
  for (const std::uint32_t out : world_.switches[world_.switch_behind(link)].links) {
    if (out == reverse_of(link)) continue;
    const PacketIndex copy = world_.pool.allocate();
    Packet& stray = world_.pool[copy];
    stray.arrival = world_.pool[index].arrival;
    stray.position = position;
    stray.ingress = reverse_of(link);
    stray.qp = world_.pool[index].qp;
    stray.psn = world_.pool[index].psn & Packet::kNotEcnCapable;
    stray.frame_bytes = world_.pool[index].frame_bytes;
    stray.kind = PacketKind::kStray;
    stray.flags = static_cast<std::uint8_t>(world_.pool[index].flags & PacketFlags::kPriority);
    world_.ip_ids.set(copy, world_.ip_ids.of(index));
    ++position;
    engine_.send_stray(out, copy);
  }
}

}  // namespace simulator
