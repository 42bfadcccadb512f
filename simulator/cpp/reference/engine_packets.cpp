// Packets that somebody wants to look at, of the eager engine.
#include "protocol/queue_pair.h"
#include "reference/engine.h"

namespace simulator::reference {

void Engine::record(std::uint32_t number, const Packet& packet, PacketFate fate) {
  if (!recorder_.packets.has_link(number)) return;
  PacketRecord record{.at = now_, .link = number, .kind = packet.kind, .frame_bytes = packet.frame_bytes};
  record.fate = fate;
  if (!is_refusal(fate)) {
    const LinkConfiguration& link = links_[number].configuration;
    const Bytes wire = framing_.wire_bytes(packet.frame_bytes);
    record.at = now_ - link.delay - duration_of(wire, picoseconds_per_byte(link.rate));
  }
  describe(packet, record);
  recorder_.packets.add(record);
}

void Engine::describe(const Packet& packet, PacketRecord& record) const {
  if (packet.kind == PacketKind::kPause) return record.take(packet.pause_frame);
  record.priority = packet.priority;
  if (packet.kind == PacketKind::kStray) return;
  if (packet.kind == PacketKind::kDatagram) {
    record.source = datagram_queue_pair_number(packet.datagram->source);
    record.destination = datagram_queue_pair_number(packet.datagram->destination);
    record.payload = payload_of(packet);
    return;
  }
  record.destination = queue_pair_number(queue_pairs_[packet.from].peer);
  if (packet.kind == PacketKind::kFeedback) return;
  record.source = queue_pair_number(packet.from);
  if (packet.is_marked) record.flags |= PacketRecord::kMarked;
  if (packet.kind == PacketKind::kData) return record.take(packet.data);
  if (packet.kind == PacketKind::kAcknowledgement) return record.take(*packet.acknowledgement);
  record.number = packet_psn(packet.psn);
  if (packet.kind == PacketKind::kCnp) return;
  record.take(packet.kind, packet.flags, payload_of(packet), packet.details);
}

}  // namespace simulator::reference
