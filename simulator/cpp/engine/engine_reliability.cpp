// Queue pairs that repair losses in a way of their own: their two halves are reached by virtual calls, and
// their packets carry more than a number.
#include <algorithm>

#include "engine/departures.h"
#include "reliability/verbs_allowed.h"

namespace simulator {

void Engine::add_reliability(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  reliabilities_.resize(senders_.size());
  reliabilities_[qp] = create_reliability(configuration.reliability, configuration.reliability_parameters,
                                          configuration.mtu_bytes);
  senders_[qp].has_reliability = true;
}

void Engine::require_resettable(std::uint32_t qp) const {
  if (senders_[qp].has_reliability) refuse_reset(qp);
}

void Engine::post_data(std::uint32_t qp, const Verb& verb) {
  require_plain_write(qp, verb);
  change_requester(qp, [&](Requester& requester) {
    requester.post(verb);
    return true;
  });
}

PacketIndex Engine::send_data(std::uint32_t qp, Port& port, Picoseconds start) {
  Sender& sender = senders_[qp];
  Requester& requester = *reliabilities_[qp].requester;
  DataPacket next = requester.next();
  const PacketIndex index = pool_.allocate();
  Packet& packet = pool_[index];
  packet.position = sender.route;
  packet.qp = sender.peer;
  packet.psn = packet_psn(next.number) | (next.is_ecn_capable ? 0 : Packet::kNotEcnCapable);
  packet.frame_bytes = static_cast<std::uint16_t>(requester.frame_bytes(next, framing_));
  packet.kind = PacketKind::kData;
  packet.flags = sender.priority_flags;
  depart(port, index, start);
  next.sent = start;
  if (data_packets_.size() <= index) data_packets_.resize(pool_.peak());
  data_packets_[index] = next;
  requester.on_sent(next, port.busy_until);
  sender.has_special = requester.has_packet();
  follow_deadline(qp);
  return index;
}

void Engine::on_data(PacketIndex index) {
  const Packet packet = pool_[index];
  const DataPacket data = data_packets_[index];
  const CarriedTelemetry telemetry = carried_telemetry(packet.qp, index);
  pool_.free(index);
  Responder& responder = *reliabilities_[packet.qp].responder;
  if (!senders_[packet.qp].is_operational()) return responder.discard();
  responder.on_packet(data, packet.is_marked(), now_);
  send_answers(packet.qp, telemetry);
  follow_deadline(packet.qp);
}

// What the packet brought goes back with whatever it makes the responder say.
void Engine::send_answers(std::uint32_t qp, const CarriedTelemetry& telemetry) {
  Sender& sender = senders_[qp];
  Responder& responder = *reliabilities_[qp].responder;
  responder.take_answers([&](const Acknowledgement& answer) {
    const PacketIndex index = pool_.allocate();
    Packet& packet = pool_[index];
    packet.position = sender.route;
    packet.qp = sender.peer;
    packet.psn = packet_psn(answer.expected);
    packet.frame_bytes = static_cast<std::uint16_t>(responder.frame_bytes(answer, framing_));
    packet.kind = PacketKind::kAcknowledgement;
    packet.flags = sender.priority_flags;
    if (acknowledgements_.size() <= index) acknowledgements_.resize(pool_.peak());
    acknowledgements_[index] = answer;
    if (telemetry) [[unlikely]]
      carry_telemetry(index, *telemetry);
    ++receivers_[qp].sent_replies;
    send_before_data(sender.link, index);
  });
}

void Engine::on_acknowledgement(PacketIndex index) {
  const std::uint32_t qp = pool_[index].qp;
  const Acknowledgement answer = acknowledgements_[index];
  const CarriedTelemetry telemetry = carried_telemetry(qp, index);
  pool_.free(index);
  ++receivers_[qp].received_replies;
  if (!senders_[qp].is_operational()) return;
  change_requester(qp, [&](Requester& requester) {
    if (!requester.on_acknowledgement(answer, now_)) return false;
    if (senders_[qp].wants_answers) tell_answer(qp, answer, telemetry);
    return true;
  });
  if (senders_[qp].wants_answers) watch_control(qp);
}

// The controller knows before anything else leaves.
void Engine::tell_answer(std::uint32_t qp, const Acknowledgement& answer, const CarriedTelemetry& telemetry) {
  const Requester& requester = *reliabilities_[qp].requester;
  std::span<const HopRecord> hops;
  if (telemetry) hops = {telemetry->records.data(), telemetry->hops};
  informed_controller(qp).on_answer(
      now_, {answer.echoed, requester.acknowledged(), requester.sent(), answer.echoes_mark, hops});
  follow_control(qp, now_);
}

void Engine::on_reliability_timer(std::uint32_t qp) {
  if (!senders_[qp].is_operational()) return;
  change_requester(qp, [&](Requester& requester) {
    return requester.deadline() > now_ || requester.on_deadline(now_, slowness_of(senders_[qp]));
  });
  Responder& responder = *reliabilities_[qp].responder;
  if (!senders_[qp].is_operational() || responder.deadline() > now_) return;
  responder.on_deadline(now_);
  send_answers(qp, std::nullopt);
  follow_deadline(qp);
}

double Engine::slowness_of(const Sender& sender) const {
  return limiters_[sender.limiter].slowness(speeds_[ports_[sender.link].speed].ps_per_byte);
}

// Tells the requester something: `apply` returns false if the connection is broken.
template <class Apply>
void Engine::change_requester(std::uint32_t qp, Apply&& apply) {
  Sender& sender = senders_[qp];
  change_nic(sender.link, [&] {
    Requester& requester = *reliabilities_[qp].requester;
    const bool had_data = sender.has_special;
    const bool is_alive = apply(requester);
    requester.take_done([&](const Verb& verb) { complete(qp, verb, VerbStatus::kSuccess); });
    if (!is_alive) {
      fail(qp);
      return true;
    }
    sender.has_special = requester.has_packet();
    reconsider(qp);
    return had_data || sender.has_special;
  });
  follow_deadline(qp);
}

// One timer serves both halves.
void Engine::follow_deadline(std::uint32_t qp) {
  const Sender& sender = senders_[qp];
  if (!sender.is_operational()) return;
  const Reliability& own = reliabilities_[qp];
  const Picoseconds deadline = std::min(own.requester->deadline(), own.responder->deadline());
  if (deadline == kNever) return timers_.cancel(sender.timer);
  const bool is_first = deadline < timers_.next_instant();
  timers_.set(sender.timer, deadline);
  if (is_first) set_timer_slot();
}

}  // namespace simulator
