// Queue pairs of the eager engine that repair losses in a way of their own.
#include <algorithm>

#include "reference/engine.h"
#include "reliability/receiver_told.h"

namespace simulator::reference {

void Engine::add_reliability(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  queue_pairs_[qp].reliability = std::make_shared<Reliability>(create_reliability(
      configuration.reliability, configuration.reliability_parameters, configuration.mtu_bytes));
  const std::uint32_t priority = configuration.acknowledgement_priority.value_or(configuration.priority);
  queue_pairs_[qp].reliability->acknowledgement_priority = priority;
  priorities_ |= mask_of(priority);
  if (queue_pairs_[qp].reliability->responder->grants() != nullptr) add_credits(qp, configuration);
}

Packet Engine::next_packet(std::uint32_t qp) const {
  const QueuePair& sender = queue_pairs_[qp];
  Packet packet{PacketKind::kData, qp, 0, 0, 0, 0, {}};
  if (sender.reliability) {
    packet.data = sender.reliability->requester->next();
    packet.frame_bytes = sender.reliability->requester->frame_bytes(packet.data, framing_);
  } else {
    const PacketDescription next = describe_next(sender);
    const std::uint32_t frame_bytes = framing_.frame_bytes(next.kind, next.flags, next.payload_bytes);
    packet = {next.kind, qp, 0, next.psn, frame_bytes, next.flags, next.details};
    packet.request_took = next.request_took;
  }
  packet.priority = sender.priority;
  return packet;
}

void Engine::on_packet_sent(std::uint32_t qp, const Packet& packet, Picoseconds end) {
  QueuePair& sender = queue_pairs_[qp];
  if (sender.reliability) return sender.reliability->requester->on_sent(packet.data, end);
  const auto payload = static_cast<std::uint32_t>(payload_of(packet).value);
  on_described_sent(sender, {packet.kind, packet.flags, packet.psn, payload, packet.details, {}}, end);
}

Picoseconds Engine::left_nic(std::uint32_t qp, std::uint64_t wr_id) const {
  return with_requester(qp, [&](const auto& requester) { return requester.left_nic(wr_id); });
}

void Engine::on_data(std::uint32_t qp, const Packet& packet) {
  Responder& responder = *queue_pairs_[qp].reliability->responder;
  const rogue::Received received = received_before(responder, packet.data, packet.is_marked, now_);
  responder.on_packet(packet.data, packet.is_marked, now_);
  check_delivery(qp);
  send_acknowledgements(qp, packet.hops);
  node_of(qp).receiver_control ? tell_received(qp, received) : follow_credits(qp);
  follow_both_deadlines(qp);
}

void Engine::send_acknowledgements(std::uint32_t qp, const std::vector<HopRecord>& hops) {
  QueuePair& receiver = queue_pairs_[qp];
  Responder& responder = *receiver.reliability->responder;
  responder.take_acknowledgements([&](const Acknowledgement& acknowledgement) {
    Packet packet{
        PacketKind::kAcknowledgement, qp, 0, 0, responder.frame_bytes(acknowledgement, framing_), 0, {}};
    packet.acknowledgement = std::make_shared<const Acknowledgement>(acknowledgement);
    packet.hops = hops;
    packet.priority = receiver.reliability->acknowledgement_priority;
    if (receiver.spray && responder.answers_by_path()) spray(packet, acknowledgement.entropy);
    enqueue(receiver.route->front(), packet);
  });
}

void Engine::on_reliability_timer(std::uint32_t qp) {
  QueuePair& queue_pair = queue_pairs_[qp];
  if (queue_pair.state != QueuePairState::kReadyToSend) return;
  const double line_ps_per_byte = picoseconds_per_byte(links_[queue_pair.route->front()].configuration.rate);
  const double slowness = limiter_of(qp).slowness(line_ps_per_byte);
  change_requester(qp, [&](Requester& requester) {
    return requester.deadline() > now_ || requester.on_deadline(now_, slowness);
  });
  Responder& responder = *queue_pair.reliability->responder;
  if (queue_pair.state != QueuePairState::kReadyToSend || responder.deadline() > now_) return;
  responder.on_deadline(now_);
  send_acknowledgements(qp, {});
  follow_both_deadlines(qp);
}

void Engine::on_acknowledgement(std::uint32_t qp, const Packet& packet) {
  change_requester(qp, [&](Requester& requester) {
    if (!requester.on_acknowledgement(*packet.acknowledgement, now_)) return false;
    if (queue_pairs_[qp].controller && !packet.acknowledgement->is_credit()) tell_acknowledgement(qp, packet);
    return true;
  });
}

template <class Apply>
void Engine::change_requester(std::uint32_t qp, Apply&& apply) {
  QueuePair& sender = queue_pairs_[qp];
  Requester& requester = *sender.reliability->requester;
  const bool had_packet = sender.has_packet();
  const bool is_alive = apply(requester);
  requester.take_done([&](const Verb& verb) { complete(qp, verb, VerbStatus::kSuccess); });
  if (!is_alive) return fail(qp);
  if (!had_packet && sender.has_packet()) sender.ready = std::max(sender.ready, now_);
  follow_both_deadlines(qp);
  send_if_possible(sender.route->front());
}

void Engine::follow_both_deadlines(std::uint32_t qp) {
  const QueuePair& queue_pair = queue_pairs_[qp];
  const Reliability& own = *queue_pair.reliability;
  const bool is_operational = queue_pair.state == QueuePairState::kReadyToSend;
  const Picoseconds deadline =
      is_operational ? std::min(own.requester->deadline(), own.responder->deadline()) : kNever;
  if (timers_[queue_pair.timer].deadline != deadline) set_timer(queue_pair.timer, deadline);
}

}  // namespace simulator::reference
