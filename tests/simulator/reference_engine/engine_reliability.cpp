// The reference engine's verbs, loss recovery and credits.

#include <algorithm>
#include <memory>

#include "protocol/queue_pair.h"
#include "reference_engine/engine.h"
#include "reliability/receiver_arguments.h"

namespace simulator::reference {

// Queue pairs of the eager engine with a Reliability.

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

// READs, messages and unreliable connections of the eager engine.

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
    if (reception != UcResponder::Reception::kDiscarded) store_payload(qp, packet);
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
  store_payload(qp, packet);
  if (is_last) receive_message(qp, packet);
  return reply;
}

void Engine::store_payload(std::uint32_t qp, const Packet& packet) {
  if ((packet.flags & PacketFlags::kSend) != 0) return;
  const std::uint32_t peer = queue_pairs_[qp].peer;
  memories_.store_payload(peer, VerbKind::kWrite, packet.details, payload_of(packet), now_);
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
  queue_completion(qp, CompletionLine::kReceives, pci, completion);
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

// Credits of receivers in the eager engine.

void Engine::add_credits(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  Node& node = node_of(qp);
  if (!node.credits) {
    node.credits = std::make_shared<CreditPacer>();
    node.credit_timer = add_timer(TimerKind::kCredit, queue_pairs_[qp].node);
    if (configuration.receiver_maker) {
      const BitsPerSecond rate = links_[queue_pairs_[qp].route->front()].configuration.rate;
      node.receiver_control = configuration.receiver_maker(host_of(seed_, node.name, rate, configuration));
    }
  }
  node.receivers.push_back(qp);
}

// Number of queue pairs with packets in a NIC.
std::int64_t Engine::rivals_at(const Node& node) const {
  std::int64_t rivals = 0;
  for (const std::uint32_t qp : node.queue_pairs) rivals += queue_pairs_[qp].has_packet();
  return rivals;
}

// A packet came that may want a turn for its queue pair.
void Engine::follow_credits(std::uint32_t qp) {
  CreditGrants* const grants = queue_pairs_[qp].reliability->responder->grants();
  if (grants == nullptr || !grants->take_turn_request()) return;
  node_of(qp).credits->on_request(qp);
  grant_what_is_due(queue_pairs_[qp].node);
}

// The same for a control from outside.
void Engine::tell_received(std::uint32_t qp, rogue::Received received) {
  Node& node = node_of(qp);
  const auto at = std::find(node.receivers.begin(), node.receivers.end(), qp);
  fill_in(received, *queue_pairs_[qp].reliability->responder->grants(),
          static_cast<std::uint32_t>(at - node.receivers.begin()));
  node.receiver_control->on_arrival(received);
  grant_what_is_due(queue_pairs_[qp].node);
}

void Engine::grant_what_is_due(std::uint32_t host) {
  Node& node = nodes_[host];
  const auto deadline = [&] {
    return node.receiver_control ? node.receiver_control->deadline() : node.credits->deadline();
  };
  while (deadline() <= now_) {
    node.receiver_control ? ask_receiver_control(node) : grant_turn(node);
  }
  if (timers_[node.credit_timer].deadline != deadline()) set_timer(node.credit_timer, deadline());
}

void Engine::ask_receiver_control(Node& node) {
  const auto connections = static_cast<std::uint32_t>(node.receivers.size());
  const rogue::Grant grant = node.receiver_control->on_turn(now_, connections);
  if (grant.connection == rogue::kNobody) return;
  const QueuePair& receiver = queue_pairs_[node.receivers[grant.connection]];
  CreditGrants& grants = *receiver.reliability->responder->grants();
  node.receiver_control->check_bytes(grant.bytes, room_of(grants));
  if (receiver.state != QueuePairState::kReadyToSend) return;
  grants.grant_bytes({grant.bytes});
  receiver.reliability->responder->queue_credit_report();
  send_acknowledgements(node.receivers[grant.connection], {});
}

void Engine::grant_turn(Node& node) {
  const auto [qp, is_idle] = node.credits->take();
  const QueuePair& receiver = queue_pairs_[qp];
  if (receiver.state != QueuePairState::kReadyToSend) return;
  CreditGrants& grants = *receiver.reliability->responder->grants();
  const std::int64_t quanta = grants.grant(is_idle);
  receiver.reliability->responder->queue_credit_report();
  send_acknowledgements(qp, {});
  if (grants.is_owed()) {
    node.credits->on_request(qp);
  } else if (!is_idle || grants.may_be_ahead()) {
    node.credits->queue_for_idle_turn(qp);
  }
  const double ps_per_byte = picoseconds_per_byte(links_[receiver.route->front()].configuration.rate);
  node.credits->wait_until(now_ + grants.pause_after(quanta, ps_per_byte));
}

// Spent and void credit was granted before, and so was reported credit.
void Engine::check_credits() const {
  for (std::uint32_t qp = 0; qp < queue_pairs_.size(); ++qp) {
    const QueuePair& sender = queue_pairs_[qp];
    if (!sender.reliability || sender.reliability->requester->account() == nullptr) continue;
    const CreditAccount& account = *sender.reliability->requester->account();
    SIM_CHECK(account.is_balanced(), now_, queue_pair_name(qp),
              "credit that was granted differs from credit accounted for");
    const CreditGrants& grants = *queue_pairs_[sender.peer].reliability->responder->grants();
    SIM_CHECK(account.granted() <= grants.granted(), now_, queue_pair_name(qp),
              "more credit was fair_rate than was granted");
  }
}

// Input-queued switches of the eager engine.

// The one that goes first: in an input-queued switch the first one of the input whose turn it is.
std::deque<Packet>::const_iterator Engine::next_of(const Link& link, const Queue& queue) const {
  if (!link.input) return queue.waiting.begin();
  const std::size_t links = links_.size();
  const auto distance = [&](const Packet& packet) {
    return (link_before(packet) + links - queue.turn) % links;
  };
  return std::min_element(queue.waiting.begin(), queue.waiting.end(),
                          [&](const Packet& a, const Packet& b) { return distance(a) < distance(b); });
}

Packet Engine::take(Link& link, Queue& queue) {
  const auto next = next_of(link, queue);
  Packet packet = *next;
  queue.waiting.erase(next);
  queue.bytes -= packet.frame_bytes;
  if (link.input) queue.turn = link_before(packet) + 1;
  return packet;
}

SharedBuffer& Engine::buffer_at(std::uint32_t number) {
  Link& link = links_[number];
  return link.input ? *link.input : nodes_[link.from].shared_buffer;
}

}  // namespace simulator::reference
