// Routes that lead to no host: circles, in which packets expire, and switches that flood.
#include "engine/departures.h"
#include "protocol/route_end.h"

namespace simulator {

// Behind the last link of such a route packets have to be looked at. A copy's route is one entry, the link that
// it takes.
void Engine::prepare_end(const std::vector<std::uint32_t>& route) {
  if (!is_route_end(route.back())) return;
  const std::uint32_t link = route[route.size() - 2];
  ports_[link].flags |= Port::kRouteEnds;
  if (route.back() != kFloods || floods_.contains(link)) return;
  floods_[link] = static_cast<std::uint32_t>(routes_.size());
  for (const std::uint32_t out : switches_[nodes_[links_[link].to].index].links) {
    if (out == (link ^ 1)) continue;
    routes_.push_back(out);
    ports_[out].flags |= Port::kRouteEnds;
  }
}

// Whether a packet that has come goes no further. If it has not come to a host, there is a next entry in its
// route.
bool Engine::is_at_its_end(std::uint32_t link, PacketIndex index) {
  if (pool_[index].kind == PacketKind::kStray) {
    ++links_[link].stray_packets;
    pool_.free(index);
    return true;
  }
  if (ports_[link].has(Port::kPeerIsHost)) return false;
  const std::uint32_t next = routes_[pool_[index].position + 1];
  if (!is_route_end(next)) return false;
  if (next == kFloods) {
    flood(link, index);
  } else {
    ++links_[link].expired_packets;
  }
  forget(index);
  return true;
}

// Each copy is charged to the ingress, as a frame of its own.
void Engine::flood(std::uint32_t link, PacketIndex index) {
  std::uint32_t position = floods_.at(link);
  for (const std::uint32_t out : switches_[nodes_[links_[link].to].index].links) {
    if (out == (link ^ 1)) continue;
    const PacketIndex copy = pool_.allocate();
    Packet& stray = pool_[copy];
    stray.position = position;
    stray.ingress = link ^ 1;
    stray.qp = pool_[index].qp;
    stray.psn = pool_[index].psn & Packet::kNotEcnCapable;
    stray.frame_bytes = pool_[index].frame_bytes;
    stray.kind = PacketKind::kStray;
    stray.flags = static_cast<std::uint8_t>(pool_[index].flags & PacketFlags::kPriority);
    if (counts_identifications_) {
      if (identifications_.size() <= copy) identifications_.resize(pool_.peak());
      identifications_[copy] = identifications_[index];
    }
    ++position;
    send_stray(out, copy);
  }
}

}  // namespace simulator
