// Queue pairs with a Reliability: their two halves are reached by virtual calls, and their packets carry more than a
// number.
#include "engine/reliabilities.h"

#include <algorithm>

#include "catalogue/reliabilities.h"
#include "engine/departures.h"
#include "reliability/kind.h"
#include "reliability/receiver_arguments.h"

namespace simulator {

void Reliabilities::add(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  world_.reliabilities.resize(world_.senders.size());
  world_.reliabilities[qp] = create_reliability(
      configuration.reliability, configuration.reliability_parameters, configuration.mtu_bytes);
  const std::uint32_t priority = configuration.acknowledgement_priority.value_or(configuration.priority);
  world_.reliabilities[qp].acknowledgement_priority = priority;
  world_.priorities |= mask_of(priority);
  world_.senders[qp].has_reliability = true;
  if (world_.reliabilities[qp].responder->grants() != nullptr) engine_.credits_.add(qp, configuration);
}

void Reliabilities::spray(std::uint32_t qp, const RandomStream& stream, std::uint32_t paths) {
  if (!world_.senders[qp].has_reliability) return;
  world_.reliabilities[qp].requester->use_paths(stream, paths);
  world_.reliabilities[qp].responder->use_paths(stream, paths);
}

// Sprayed packets have their path instead of a place in the table of routes.
std::uint32_t Reliabilities::first_position(std::uint32_t qp, Requester& requester, DataPacket& packet) {
  if (!world_.senders[qp].is_sprayed || !requester.chooses_paths()) return engine_.first_position(qp);
  packet.entropy = static_cast<std::uint16_t>(requester.next_path());
  return Packet::kSprayed | packet.entropy;
}

void Reliabilities::require_resettable(std::uint32_t qp) const {
  if (world_.senders[qp].has_reliability) refuse_reset(qp);
}

void Reliabilities::post(std::uint32_t qp, const Verb& verb) {
  require_plain_write(qp, verb);
  change_requester(qp, [&](Requester& requester) {
    requester.post(verb);
    return true;
  });
}

// Each packet that a switch has trimmed has arrived as a header, is in flight or is missing.
void Reliabilities::check_trimmed() {
  std::uint64_t trimmed = 0;
  std::uint64_t accounted = world_.missing_headers;
  const auto count = [&](PacketIndex at) {
    accounted += world_.pool[at].kind == PacketKind::kData && data_packets_[at].is_trimmed;
  };
  for (const Port& port : world_.ports) {
    for (PacketIndex at = port.in_flight.head; at != kNoPacket; at = world_.pool[at].next) count(at);
    for (PacketIndex at = port.waiting.head; at != kNoPacket; at = world_.pool[at].next) count(at);
    if (!port.has(Port::kClassed)) continue;
    const ClassedPort& classes = world_.classes_of(port);
    trimmed += static_cast<std::uint64_t>(classes.counters->trimmed_packets);
    for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
      classes.for_each_waiting(world_.pool, priority, count);
    }
  }
  for (const Reliability& own : world_.reliabilities) {
    if (own.responder) accounted += own.responder->headers();
  }
  SIM_CHECK(trimmed == accounted, engine_.now_, "trimming",
            "trimmed packets differ from headers accounted for");
}

PacketIndex Reliabilities::send(std::uint32_t qp, Port& port, Picoseconds start) {
  Sender& sender = world_.senders[qp];
  Requester& requester = *world_.reliabilities[qp].requester;
  DataPacket next = requester.next();
  const PacketIndex index = world_.pool.allocate();
  Packet& packet = world_.pool[index];
  packet.position = first_position(qp, requester, next);
  packet.qp = sender.peer;
  packet.psn = packet_psn(next.number) | (next.is_ecn_capable ? 0 : Packet::kNotEcnCapable);
  packet.frame_bytes = static_cast<std::uint16_t>(requester.frame_bytes(next, world_.framing));
  packet.kind = PacketKind::kData;
  packet.flags = sender.priority_flags;
  engine_.depart(port, index, start);
  next.sent = start;
  requester.on_sent(next, port.busy_until);
  if (sender.has_credits) next.request_credit(requester.credit_target(engine_.credits_.rivals_of(sender)));
  data_packets_[index] = next;
  sender.has_special = requester.has_packet();
  update_requester_deadline(qp);
  return index;
}

void Reliabilities::on_data(PacketIndex index) {
  const Packet packet = world_.pool[index];
  const DataPacket data = data_packets_[index];
  const CarriedTelemetry telemetry = engine_.feedback_.carried_telemetry(packet.qp, index);
  world_.pool.free(index);
  Responder& responder = *world_.reliabilities[packet.qp].responder;
  if (!world_.senders[packet.qp].is_operational()) return responder.discard(data);
  std::optional<rogue::Received> received;
  if (engine_.credits_.reports_arrivals(packet.qp)) [[unlikely]]
    received = received_before(responder, data, packet.is_marked(), engine_.now_);
  responder.on_packet(data, packet.is_marked(), engine_.now_);
  engine_.check_delivery(packet.qp);
  send_acknowledgements(packet.qp, telemetry);
  if (world_.senders[packet.qp].has_credits) engine_.credits_.on_arrival(packet.qp, received);
  update_responder_deadline(packet.qp);
}

// The acknowledgements of a packet return the data that it carried.
void Reliabilities::send_acknowledgements(std::uint32_t qp, const CarriedTelemetry& telemetry) {
  Sender& sender = world_.senders[qp];
  Responder& responder = *world_.reliabilities[qp].responder;
  const std::uint32_t priority = world_.reliabilities[qp].acknowledgement_priority;
  const bool is_by_path = sender.is_sprayed && responder.answers_by_path();
  responder.take_acknowledgements([&](const Acknowledgement& acknowledgement) {
    const PacketIndex index = world_.pool.allocate();
    Packet& packet = world_.pool[index];
    packet.position = is_by_path ? Packet::kSprayed | acknowledgement.entropy : sender.route;
    packet.qp = sender.peer;
    packet.psn = packet_psn(acknowledgement.expected);
    packet.frame_bytes = static_cast<std::uint16_t>(responder.frame_bytes(acknowledgement, world_.framing));
    packet.kind = PacketKind::kAcknowledgement;
    packet.flags = static_cast<std::uint8_t>(priority << PacketFlags::kPriorityShift);
    acknowledgements_[index] = acknowledgement;
    if (telemetry) [[unlikely]]
      engine_.feedback_.carry_telemetry(index, *telemetry);
    ++world_.receivers[qp].sent_replies;
    engine_.send_before_data(sender.link, index);
  });
}

void Reliabilities::on_acknowledgement(PacketIndex index) {
  const std::uint32_t qp = world_.pool[index].qp;
  const Acknowledgement acknowledgement = acknowledgements_[index];
  const CarriedTelemetry telemetry = engine_.feedback_.carried_telemetry(qp, index);
  world_.pool.free(index);
  ++world_.receivers[qp].received_replies;
  if (!world_.senders[qp].is_operational()) return;
  change_requester(qp, [&](Requester& requester) {
    if (!requester.on_acknowledgement(acknowledgement, engine_.now_)) return false;
    if (world_.senders[qp].wants_acknowledgements && !acknowledgement.is_credit())
      engine_.controls_.on_acknowledgement(qp, acknowledgement, telemetry);
    return true;
  });
  if (world_.senders[qp].wants_acknowledgements) engine_.controls_.update_timer(qp);
}

void Reliabilities::on_timer(std::uint32_t qp) {
  if (!world_.senders[qp].is_operational()) return;
  world_.reliabilities[qp].armed = kNever;
  change_requester(qp, [&](Requester& requester) {
    return requester.deadline() > engine_.now_ ||
           requester.on_deadline(engine_.now_, slowness_of(world_.senders[qp]));
  });
  Responder& responder = *world_.reliabilities[qp].responder;
  if (!world_.senders[qp].is_operational() || responder.deadline() > engine_.now_) return;
  responder.on_deadline(engine_.now_);
  send_acknowledgements(qp, std::nullopt);
  update_responder_deadline(qp);
}

double Reliabilities::slowness_of(const Sender& sender) const {
  return world_.limiters[sender.limiter].slowness(world_.speeds[world_.ports[sender.link].speed].ps_per_byte);
}

// Tells the requester something: `apply` returns false if the connection is broken.
template <class Apply>
void Reliabilities::change_requester(std::uint32_t qp, Apply&& apply) {
  Sender& sender = world_.senders[qp];
  engine_.change_nic(sender.link, [&] {
    Requester& requester = *world_.reliabilities[qp].requester;
    const bool had_data = sender.has_special;
    const bool is_alive = apply(requester);
    requester.take_done([&](const Verb& verb) { engine_.complete(qp, verb, VerbStatus::kSuccess); });
    if (!is_alive) {
      engine_.fail(qp);
      return true;
    }
    sender.has_special = requester.has_packet();
    engine_.reconsider(qp);
    return had_data || sender.has_special;
  });
  update_requester_deadline(qp);
}

void Reliabilities::update_requester_deadline(std::uint32_t qp) {
  Reliability& own = world_.reliabilities[qp];
  own.requester_deadline = own.requester->deadline();
  set_deadline_timer(qp, own);
}

void Reliabilities::update_responder_deadline(std::uint32_t qp) {
  Reliability& own = world_.reliabilities[qp];
  own.responder_deadline = own.responder->deadline();
  set_deadline_timer(qp, own);
}

// One timer serves both halves.
void Reliabilities::set_deadline_timer(std::uint32_t qp, Reliability& own) {
  const Picoseconds deadline = std::min(own.requester_deadline, own.responder_deadline);
  if (deadline == own.armed) return;
  const Sender& sender = world_.senders[qp];
  if (!sender.is_operational()) return;
  own.armed = deadline;
  if (deadline == kNever) return engine_.timers_.cancel(sender.timer);
  const bool is_first = deadline < engine_.timers_.next_instant();
  engine_.timers_.set(sender.timer, deadline);
  if (is_first) engine_.set_timer_slot();
}

}  // namespace simulator
