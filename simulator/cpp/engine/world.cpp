// Derived values of a world between two instants.
#include "engine/world.h"

#include <memory>

namespace simulator {

Bytes World::waiting_bytes_of(const Port& port) const {
  if (!port.has(Port::kClassed)) return port.waiting_bytes;
  Bytes waiting;
  for (const ClassQueue& queue : classes_of(port).queues) waiting += queue.bytes;
  return waiting;
}

Bytes World::received_bytes(std::uint32_t link) const {
  Bytes received = ports[link].sent_bytes - links[link].lost_bytes;
  for (PacketIndex at = ports[link].in_flight.head; at != kNoPacket; at = pool[at].next) {
    received.value -= pool[at].frame_bytes;
  }
  return received;
}

QueuePairExtras& World::extras_of(std::uint32_t qp) {
  if (extras.size() < senders.size()) extras.resize(senders.size());
  if (!extras[qp]) extras[qp] = std::make_unique<QueuePairExtras>();
  return *extras[qp];
}

Bytes World::delivered_at(std::uint32_t receiver) const {
  const Sender& own = senders[receiver];
  if (own.has_reliability) return reliabilities[receiver].responder->delivered();
  const Bytes delivered =
      receivers[receiver].responder.delivered() + senders[own.peer].requester.read_bytes();
  const QueuePairExtras* const found = find_extras(receiver);
  return found == nullptr ? delivered : delivered + found->unreliable.delivered();
}

std::uint64_t World::messages_delivered_by(std::uint32_t qp) const {
  const QueuePairExtras* const found = find_extras(senders[qp].peer);
  return found == nullptr ? 0 : found->unreliable.delivered_messages();
}

// Packets that arrived from a queue pair at its peer, accepted or not.
std::uint64_t World::packets_taken_from(std::uint32_t qp) const {
  const std::uint32_t peer = senders[qp].peer;
  if (senders[qp].has_reliability) return reliabilities[peer].responder->packets();
  const std::uint64_t reliable = receivers[peer].responder.packets();
  const QueuePairExtras* const found = find_extras(peer);
  return found == nullptr ? reliable : reliable + found->unreliable.packets();
}

}  // namespace simulator
