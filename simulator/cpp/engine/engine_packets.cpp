// Packets that somebody wants to look at, and those that end on their way.
#include "engine/departures.h"

namespace simulator {

void Engine::record_packets(const PacketLogSettings& settings) {
  require_nobody_ahead("record_packets", now_);
  recorder_.packets.open(settings);
  for (const std::uint32_t link : settings.links) world_.ports[link].flags |= Port::kRecorded;
  is_recording_ = true;
  for (Sender& sender : world_.senders) sender.requester.describe_all();
}

// A packet has come to the end of a link at which something may happen to it. Returns whether it goes no
// further.
[[gnu::noinline]] bool Engine::ends_on_arrival(std::uint32_t link, PacketIndex index) {
  if (world_.ports[link].has(Port::kLossy) && loses(link, index)) {
    lose(link, index, PacketFate::kLost);
    return true;
  }
  if (world_.ports[link].has(Port::kSlowlyReceived) && !faults_.is_received(link, index)) {
    lose(link, index, PacketFate::kSlowReceiver);
    return true;
  }
  if (world_.ports[link].has(Port::kRouteEnds) && route_ends_.on_arrival(link, index)) return true;
  record(link, index, PacketFate::kArrived);
  return false;
}

void Engine::lose(std::uint32_t link, PacketIndex index, PacketFate fate) {
  record(link, index, fate);
  ++world_.links[link].lost_packets;
  world_.links[link].lost_bytes.value += world_.pool[index].frame_bytes;
  forget(index);
}

void Engine::drop(std::uint32_t link, PacketIndex index, PacketFate fate) {
  record(link, index, fate);
  ++world_.links[link].dropped_packets;
  forget(index);
}

// A packet that came over a link began to leave when it must have.
void Engine::record(std::uint32_t link, PacketIndex index, PacketFate fate, Picoseconds refused) {
  const Port& port = world_.ports[link];
  if (!port.has(Port::kRecorded)) [[likely]]
    return;
  const Packet& packet = world_.pool[index];
  PacketRecord record{.at = refused, .link = link, .kind = packet.kind, .frame_bytes = packet.frame_bytes};
  record.fate = fate;
  if (!is_refusal(fate)) {
    const LinkSpeed& speed = world_.speeds[port.speed];
    record.at = now_ - speed.delay - speed.duration(world_.framing.wire_bytes(packet.frame_bytes));
  }
  describe(packet, index, record);
  recorder_.packets.add(record);
}

void Engine::describe(const Packet& packet, PacketIndex index, PacketRecord& record) {
  if (packet.kind == PacketKind::kPause) return record.take(packet.pause_frame);
  record.priority = packet.priority();
  if (packet.kind == PacketKind::kStray) return;
  if (packet.kind == PacketKind::kDatagram) {
    record.source = datagram_queue_pair_number(datagrams_.source_of(index));
    record.destination = datagram_queue_pair_number(packet.qp);
    record.payload = world_.payload_of(packet);
    return;
  }
  record.destination = queue_pair_number(packet.qp);
  if (packet.kind == PacketKind::kFeedback) return;
  record.source = queue_pair_number(world_.senders[packet.qp].peer);
  if (packet.is_marked()) record.flags |= PacketRecord::kMarked;
  if (packet.kind == PacketKind::kData) return record.take(reliabilities_.data_of(index));
  if (packet.kind == PacketKind::kAcknowledgement)
    return record.take(reliabilities_.acknowledgement_of(index));
  record.number = packet_psn(packet.psn);
  if (packet.kind == PacketKind::kCnp) return;
  const auto flags = static_cast<std::uint8_t>(packet.flags & ~PacketFlags::kPriority);
  record.take(packet.kind, flags, world_.payload_of(packet), world_.details[index]);
}

}  // namespace simulator
