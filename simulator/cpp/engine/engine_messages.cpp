// Messages: SEND and immediate data, READs, unreliable connections and datagrams.

#include <algorithm>
#include <utility>

#include "engine/departures.h"

namespace simulator {

PacketDescription Engine::describe_next(std::uint32_t qp) {
  const Sender& sender = world_.senders[qp];
  if (sender.is_response_next()) return world_.extras_of(qp).responses.next(sender.requester.mtu_bytes());
  return sender.requester.describe();
}

PacketIndex Engine::send_described(std::uint32_t qp, Port& port, Picoseconds start) {
  Sender& sender = world_.senders[qp];
  if (sender.has_reliability) return reliabilities_.send(qp, port, start);
  const PacketDescription next = describe_next(qp);
  const PacketIndex index = world_.pool.allocate();
  Packet& packet = world_.pool[index];
  packet.position = first_position(qp);
  packet.qp = sender.peer;
  packet.psn = packet_psn(next.psn);
  packet.frame_bytes =
      static_cast<std::uint16_t>(world_.framing.frame_bytes(next.kind, next.flags, next.payload_bytes));
  packet.kind = next.kind;
  packet.flags = next.flags | sender.priority_flags;
  depart(port, index, start);
  PacketDetails& details = world_.details[index];
  details = next.details;
  details.left = port.busy_until - next.request_took;
  sender.has_responded = sender.is_response_next();
  if (!sender.has_responded) {
    sender.requester.on_described_sent(next, port.busy_until);
    return index;
  }
  ++world_.receivers[qp].sent_replies;
  ResponseQueue& responses = world_.extras_of(qp).responses;
  responses.on_sent(next);
  sender.has_special = !responses.empty();
  return index;
}

void Engine::arrive_described(PacketIndex index) {
  const Packet packet = world_.pool[index];
  if (packet.kind == PacketKind::kData) return reliabilities_.on_data(index);
  if (packet.kind == PacketKind::kAcknowledgement) return reliabilities_.on_acknowledgement(index);
  if (packet.kind == PacketKind::kDatagram) return on_datagram(index);
  if (packet.kind == PacketKind::kCnp) return controls_.on_cnp(index);
  if (packet.kind == PacketKind::kFeedback) return controls_.on_feedback(index);
  if (packet.kind == PacketKind::kReadResponse) return on_read_response(index);
  const bool is_operational = world_.senders[packet.qp].is_operational();
  if (packet.kind == PacketKind::kUnreliable) return on_unreliable(index, is_operational);
  if (!is_operational) {
    world_.receivers[packet.qp].responder.discard();
    world_.pool.free(index);
  } else if (packet.kind == PacketKind::kMessage) {
    on_message(index);
  } else {
    on_read_request(index);
  }
}

void Engine::on_message(PacketIndex index) {
  const Packet& packet = world_.pool[index];
  RcResponder& responder = world_.receivers[packet.qp].responder;
  const std::uint64_t expected = responder.expected_psn();
  const bool wants_ack = (packet.flags & PacketFlags::kWantsAck) != 0;
  const Reply reply = responder.on_write(packet.psn, world_.payload_of(packet), wants_ack);
  if (responder.expected_psn() != expected) {
    store_payload(index);
    if ((packet.flags & PacketFlags::kLast) != 0) receive(index);
    check_delivery(packet.qp);
  }
  if (reply.kind == ReplyKind::kNone) {
    world_.pool.free(index);
  } else {
    turn_into_reply(index, reply);
  }
}

void Engine::on_unreliable(PacketIndex index, bool is_operational) {
  const Packet& packet = world_.pool[index];
  UcResponder& responder = world_.extras_of(packet.qp).unreliable;
  if (is_operational) {
    const UcResponder::Reception reception =
        responder.on_packet(packet.psn, packet.flags, world_.payload_of(packet));
    if (reception != UcResponder::Reception::kDiscarded) store_payload(index);
    if (reception == UcResponder::Reception::kMessageComplete) {
      receive(index);
      check_delivery(packet.qp);
    }
  } else {
    responder.discard();
  }
  world_.pool.free(index);
}

// More bytes may have arrived at this queue pair. Only the last packet of a verb always requests a reply, and
// host software never waits for less than a verb.
void Engine::check_delivery(std::uint32_t receiver) {
  const std::uint32_t qp = world_.senders[receiver].peer;
  const Bytes delivered = world_.delivered_at(receiver);
  if (!deliveries_.is_due(qp, delivered)) [[likely]]
    return;
  deliveries_.check(qp, delivered, [&](std::uint32_t call) { mailbox_.call({HostCallKind::kOnce, call}); });
  stop_if_hosts_wait();
}

// A packet of a WRITE has been accepted.
void Engine::store_payload(PacketIndex index) {
  const Packet& packet = world_.pool[index];
  if ((packet.flags & PacketFlags::kSend) != 0) return;
  const std::uint32_t qp = world_.senders[packet.qp].peer;
  memories_.store_payload(qp, VerbKind::kWrite, world_.details[index], world_.payload_of(packet), now_);
}

// The last packet of a verb has been accepted. A SEND, and any immediate, completes a receive request.
void Engine::receive(PacketIndex index) {
  const Packet& packet = world_.pool[index];
  const bool has_immediate = (packet.flags & PacketFlags::kImmediate) != 0;
  if (!has_immediate && (packet.flags & PacketFlags::kSend) == 0) return;
  const PacketDetails& details = world_.details[index];
  const Sender& receiver = world_.senders[packet.qp];
  const Picoseconds pci =
      receiver.is_unreliable ? world_.nics[receiver.nic].pci.unreliable(details.length) : Picoseconds{};
  Completion completion{.wr_id = world_.extras_of(packet.qp).receives++,
                        .nic_ns = 0,
                        .byte_len = details.length.value,
                        .status = static_cast<int>(VerbStatus::kSuccess)};
  if (has_immediate) completion.immediate = details.immediate;
  recorder_.on_receive(queue_pair_number(packet.qp), completion.wr_id, completion.immediate.value_or(0),
                       now_);
  queue_completion(packet.qp, CompletionLine::kReceives, pci, completion);
}

// Verbs of an unreliable connection are done when their last packet has left. A port books departures only when it
// catches up, so a timer makes it catch up at the earliest instant at which the oldest verb can have left, and
// again.
void Engine::watch_departure(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  if (sender.requester.is_idle()) return;
  const Port& port = world_.ports[sender.link];
  const std::int64_t overhead = world_.framing.wire_bytes(world_.framing.data_overhead_bytes).value;
  sender.is_timer_pending = true;
  timers_.set(sender.timer, sender.requester.oldest_left_after(std::max(now_, port.busy_until), overhead,
                                                               world_.speeds[port.speed].ps_per_byte));
  set_timer_slot();
}

void Engine::on_departure_timer(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  sender.is_timer_pending = false;
  catch_up_host(world_.ports[sender.link]);
  sender.requester.on_left(now_, [&](const Verb& verb) { complete(qp, verb, VerbStatus::kSuccess); });
  watch_departure(qp);
}

// READs: the responder's NIC sends the responses in turns with its own verbs, paced by its own limiter.

void Engine::on_read_request(PacketIndex index) {
  const Packet packet = world_.pool[index];
  const PacketDetails details = world_.details[index];
  Sender& sender = world_.senders[packet.qp];
  const auto responses = static_cast<std::uint32_t>(sender.requester.packets_of(details.length));
  const Reply reply = world_.receivers[packet.qp].responder.on_read(packet.psn, responses);
  if (reply.kind == ReplyKind::kNak) return turn_into_reply(index, reply);
  world_.pool.free(index);
  if (reply.kind == ReplyKind::kNone) return;
  change_nic(sender.link, [&] {
    world_.extras_of(packet.qp).responses.add_read(packet.psn, responses, details, now_ - details.left);
    sender.has_special = true;
    reconsider(packet.qp);
    return true;
  });
}

// Replies keep the order of their requests: while responses to a READ wait, so does what comes after them.
// Returns false if none waits any more.
bool Engine::reply_after_responses(PacketIndex index, const Reply& reply) {
  const std::uint32_t qp = world_.pool[index].qp;
  catch_up_host(world_.ports[world_.senders[qp].link]);
  if (!world_.senders[qp].has_special) return false;
  world_.extras_of(qp).responses.add_reply(reply);
  world_.pool.free(index);
  return true;
}

void Engine::on_read_response(PacketIndex index) {
  const Packet packet = world_.pool[index];
  const PacketDetails details = world_.details[index];
  world_.pool.free(index);
  ++world_.receivers[packet.qp].received_replies;
  if (!world_.senders[packet.qp].is_operational()) return;
  bool is_accepted = false;
  on_progress(packet.qp, [&](RcRequester& requester, const auto& on_done) {
    return requester.on_response(packet.psn, world_.payload_of(packet), details.left, now_, is_accepted,
                                 on_done);
  });
  if (!is_accepted) return;
  check_delivery(world_.senders[packet.qp].peer);
  memories_.store_payload(packet.qp, VerbKind::kRead, details, world_.payload_of(packet), now_);
}

void Engine::forget_responses(std::uint32_t qp) {
  if (!world_.senders[qp].has_special) return;
  world_.extras_of(qp).responses.clear();
  world_.senders[qp].has_special = false;
}

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
