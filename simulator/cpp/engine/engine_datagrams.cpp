// Datagrams on their way through the engine.
#include <utility>

#include "engine/departures.h"

namespace simulator {

std::uint32_t Engine::add_datagram_queue_pair(std::uint32_t host) {
  complete_topology();
  mailbox_.add_datagram_queue_pair();
  return datagrams_.add_queue_pair(world_.nodes[host].index);
}

void Engine::post_datagram(Datagram datagram) {
  const PacketIndex index = world_.pool.allocate();
  Packet& packet = world_.pool[index];
  packet.position = datagram.route;
  packet.qp = datagram.destination;
  packet.psn = 0;
  packet.frame_bytes =
      static_cast<std::uint16_t>(world_.framing.datagram_frame_bytes(datagram.payload.size()));
  packet.kind = PacketKind::kDatagram;
  packet.flags = 0;
  datagrams_.send(index, std::move(datagram));
  send_before_data(world_.routes[packet.position], index);
}

void Engine::on_datagram(PacketIndex index) {
  Datagram datagram = datagrams_.receive(index);
  world_.pool.free(index);
  const std::uint32_t source = datagram_queue_pair_number(datagram.source);
  recorder_.on_datagram(datagram_queue_pair_number(datagram.destination), source, datagram.wr_id, now_);
  const std::int64_t nic_ns = world_.nics[datagrams_.nic_of(datagram.destination)].clock.read_ns(now_);
  mailbox_.receive_datagram(datagram.destination, {source, nic_ns, std::move(datagram.payload)});
  stop_if_hosts_wait();
}

}  // namespace simulator
