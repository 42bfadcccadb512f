// READs, messages and unreliable connections of the eager engine.
#include <algorithm>

#include "protocol/queue_pair.h"
#include "reference/engine.h"

namespace simulator::reference {

PacketDescription Engine::describe_next(const QueuePair& queue_pair) const {
  if (queue_pair.is_response_next()) return queue_pair.responses.next(queue_pair.requester.mtu_bytes());
  return queue_pair.requester.describe();
}

void Engine::on_described_sent(QueuePair& sender, const PacketDescription& packet, Picoseconds end) {
  sender.has_responded = sender.is_response_next();
  if (sender.has_responded) return sender.responses.on_sent(packet);
  sender.requester.on_described_sent(packet, end);
}

Bytes Engine::payload_of(const Packet& packet) const {
  return {std::int64_t{framing_.payload_bytes(packet.kind, packet.flags, packet.frame_bytes)}};
}

// Returns the reply that is due, if one is.
Reply Engine::accept(std::uint32_t qp, const Packet& packet) {
  QueuePair& receiver = queue_pairs_[qp];
  const Bytes payload = payload_of(packet);
  const bool is_last = (packet.flags & PacketFlags::kLast) != 0;
  if (packet.kind == PacketKind::kUnreliable) {
    const auto reception = receiver.unreliable.on_packet(packet.psn, packet.flags, payload);
    if (reception != UcResponder::Reception::kDiscarded) land(qp, packet);
    if (reception == UcResponder::Reception::kMessageComplete) receive_message(qp, packet);
    return {ReplyKind::kNone, 0};
  }
  if (packet.kind == PacketKind::kReadRequest) {
    const auto responses = static_cast<std::uint32_t>(receiver.requester.packets_of(packet.details.length));
    const Reply reply = receiver.responder.on_read(packet.psn, responses);
    if (reply.kind != ReplyKind::kReadResponses) return reply;
    if (!receiver.has_packet()) receiver.ready = std::max(receiver.ready, now_);
    receiver.responses.add_read(packet.psn, responses, packet.details, now_ - packet.details.left);
    send_if_possible(receiver.route->front());
    return {ReplyKind::kNone, 0};
  }
  const std::uint64_t expected = receiver.responder.expected_psn();
  const bool wants_ack = (packet.flags & PacketFlags::kWantsAck) != 0;
  const Reply reply = receiver.responder.on_write(packet.psn, payload, wants_ack);
  if (receiver.responder.expected_psn() == expected) return reply;
  land(qp, packet);
  if (is_last) receive_message(qp, packet);
  return reply;
}

void Engine::land(std::uint32_t qp, const Packet& packet) {
  if ((packet.flags & PacketFlags::kSend) != 0) return;
  const std::uint32_t peer = queue_pairs_[qp].peer;
  memories_.land(peer, VerbKind::kWrite, packet.details, payload_of(packet), now_);
}

void Engine::receive_message(std::uint32_t qp, const Packet& packet) {
  const bool has_immediate = (packet.flags & PacketFlags::kImmediate) != 0;
  if (!has_immediate && (packet.flags & PacketFlags::kSend) == 0) return;
  const Picoseconds pci =
      queue_pairs_[qp].is_unreliable ? node_of(qp).pci.unreliable(packet.details.length) : Picoseconds{};
  Completion completion{.wr_id = queue_pairs_[qp].receives++,
                        .nic_ns = 0,
                        .byte_len = packet.details.length.value,
                        .status = static_cast<int>(VerbStatus::kSuccess)};
  if (has_immediate) completion.immediate = packet.details.immediate;
  recorder_.on_receive(queue_pair_number(qp), completion.wr_id, completion.immediate.value_or(0), now_);
  tell_host(qp, CompletionLine::kReceives, pci, completion);
}

void Engine::call_when_delivered(std::uint32_t qp, Bytes delivered, std::uint32_t call) {
  if (delivered <= delivered_by(qp)) return call_once(call, now_);
  deliveries_.add(qp, delivered, call);
}

void Engine::check_delivery(std::uint32_t receiver) {
  const std::uint32_t qp = queue_pairs_[receiver].peer;
  deliveries_.check(qp, delivered_by(qp),
                    [&](std::uint32_t call) { mailbox_.call({HostCallKind::kOnce, call}); });
}

// Verbs of an unreliable connection are done when their last packet has left.
void Engine::follow_departures(std::uint32_t qp) {
  const QueuePair& sender = queue_pairs_[qp];
  const Picoseconds left = sender.requester.oldest_left();
  if (timers_[sender.timer].deadline != left) set_timer(sender.timer, left);
}

void Engine::on_departure_timer(std::uint32_t qp) {
  queue_pairs_[qp].requester.on_left(now_,
                                     [&](const Verb& verb) { complete(qp, verb, VerbStatus::kSuccess); });
  follow_departures(qp);
}

}  // namespace simulator::reference
