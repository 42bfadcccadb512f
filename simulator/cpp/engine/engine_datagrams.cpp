// Unreliable datagrams: one packet each, that leaves its NIC like an acknowledgement, before data and without
// a limiter.
#include <utility>

#include "engine/departures.h"

namespace simulator {

std::uint32_t Engine::add_datagram_queue_pair(std::uint32_t host) {
  complete_topology();
  mailbox_.add_datagram_queue_pair();
  datagram_hosts_.push_back(nodes_[host].index);
  return static_cast<std::uint32_t>(datagram_hosts_.size() - 1);
}

std::uint32_t Engine::add_route(const std::vector<std::uint32_t>& links) {
  const auto route = static_cast<std::uint32_t>(routes_.size());
  routes_.insert(routes_.end(), links.begin(), links.end());
  prepare_end(links);
  return route;
}

void Engine::post_datagram(Datagram datagram) {
  const PacketIndex index = pool_.allocate();
  Packet& packet = pool_[index];
  packet.position = datagram.route;
  packet.qp = datagram.destination;
  packet.psn = 0;
  packet.frame_bytes = static_cast<std::uint16_t>(framing_.datagram_frame_bytes(datagram.payload.size()));
  packet.kind = PacketKind::kDatagram;
  packet.flags = 0;
  ++datagrams_.sent;
  datagrams_.under_way.emplace(index, std::move(datagram));
  send_before_data(routes_[packet.position], index);
}

void Engine::on_datagram(PacketIndex index) {
  auto arrived = datagrams_.under_way.extract(index);
  pool_.free(index);
  ++datagrams_.received;
  const Datagram& datagram = arrived.mapped();
  const std::uint32_t source = datagram_queue_pair_number(datagram.source);
  recorder_.on_datagram(datagram_queue_pair_number(datagram.destination), source, datagram.wr_id, now_);
  const std::int64_t nic_ns = nics_[datagram_hosts_[datagram.destination]].clock.read_ns(now_);
  mailbox_.receive_datagram(datagram.destination, {source, nic_ns, std::move(arrived.mapped().payload)});
  if (mailbox_.has_calls()) horizon_ = now_;
}

}  // namespace simulator
