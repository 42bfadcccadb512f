// Ports, switches and the event loop, packet by packet.
#include "reference_engine/engine.h"

#include <algorithm>

#include "protocol/fault.h"
#include "protocol/queue_pair.h"

namespace simulator::reference {

RunState Engine::run(Picoseconds limit, std::uint64_t events_max) {
  for (std::uint64_t n = 0; n < events_max; ++n) {
    const bool is_instant_over = events_.empty() || events_.top().at > now_;
    if (is_instant_over && mailbox_.has_calls()) return RunState::kHostsWaiting;
    if (events_.empty() || events_.top().at > limit) {
      now_ = limit;
      return RunState::kReachedLimit;
    }
    const Event event = events_.top();
    events_.pop();
    SIM_CHECK(event.at >= now_, now_, "event loop", "an event lies in the past");
    now_ = event.at;
    ++events_done_;
    fire(event);
  }
  return RunState::kSliceUsedUp;
}

void Engine::fire(const Event& event) {
  const std::uint32_t link = event.link;
  switch (event.kind) {
    case EventKind::kDeparture:
      // Either a packet has left, or a queue pair has become ready.
      if (event.timer == 0) links_[link].is_busy = false;
      return send_if_possible(link);
    case EventKind::kTimer:
      return fire_timer(event);
    case EventKind::kArrival:
      return arrive(link, event.packet);
  }
}

void Engine::send_if_possible(std::uint32_t number) {
  Link& link = links_[number];
  if (link.is_busy) return;
  if (link.is_pause_frame_due) return send_pause_frame(number);
  if (Queue* const queue = next_queue(link)) {
    Packet packet = take(link, *queue);
    if (link.turns && queue->waiting.empty()) link.turns->on_empty(packet.priority);
    if (link.aqm && !may_depart(link, packet)) {
      refuse(link, number, packet, PacketFate::kMarker);
      release(link.from, packet);
      return send_if_possible(number);
    }
    if (link.marker && link.marker->is_at_departure(packet.priority)) mark(link, packet);
    write_telemetry(link, packet);
    start(number, packet);
    if (has_shared_buffer(link.from)) return release(link.from, packet);
    if (!nodes_[link.from].is_host) nodes_[link.from].used -= packet.frame_bytes;
    return;
  }
  if (nodes_[link.from].is_host) send_from_queue_pair(number);
}

// Takes the queue pair that has been ready longest; if none is ready yet, comes back when the first one will
// be.
void Engine::send_from_queue_pair(std::uint32_t number) {
  Node& node = nodes_[links_[number].from];
  using Key = std::tuple<Picoseconds, std::uint64_t, std::uint32_t>;
  Key first{kNever, 0, 0};
  for (const std::uint32_t qp : node.queue_pairs) {
    const QueuePair& candidate = queue_pairs_[qp];
    if (!candidate.has_packet() || links_[number].pauses.is_paused(candidate.priority, now_)) continue;
    const Picoseconds ready = node.limiters[candidate.limiter].earliest(candidate.ready);
    first = std::min(first, Key{ready, candidate.served, qp});
  }
  const auto [ready, served, qp] = first;
  if (ready == kNever) return;
  if (ready > now_) return events_.push({ready, EventKind::kDeparture, number, number, 1, {}});
  QueuePair& sender = queue_pairs_[qp];
  Packet packet = next_packet(qp);
  if (sender.spray) spray(packet, next_path(qp));
  give_route(packet);
  const Bytes wire = framing_.wire_bytes(packet.frame_bytes);
  const Picoseconds serialisation =
      duration_of(wire, picoseconds_per_byte(links_[number].configuration.rate));
  packet.details.left = now_ + serialisation - packet.request_took;
  packet.data.sent = now_;
  if (!is_reply(packet.kind)) packet.sent = now_;
  const std::int64_t rivals = rivals_at(node);
  on_packet_sent(qp, packet, now_ + serialisation);
  if (sender.reliability) packet.data.request_credit(sender.reliability->requester->credit_target(rivals));
  start(number, packet);
  set_deadline_timer(qp);
  limiter_of(qp).on_sent(ready, now_, wire);
  sender.ready = limiter_of(qp).own_after(ready, now_, serialisation);
  sender.served = ++node.served;
  if (!sender.controller) return;
  sender.controller->on_sent(now_, wire);
  follow_rate(qp);
}

void Engine::start(std::uint32_t number, Packet packet) {
  Link& link = links_[number];
  const Bytes wire = framing_.wire_bytes(packet.frame_bytes);
  const Picoseconds end = now_ + duration_of(wire, picoseconds_per_byte(link.configuration.rate));
  link.is_busy = true;
  link.sent_bytes += packet.frame_bytes;
  link.sent_on_wire += wire;
  if (packet.hop == 0) {
    packets_max_ = std::max(packets_max_, ++packets_);
    if (packet.kind != PacketKind::kPause) packet.ip_id = nodes_[link.from].next_ip_id++;
  }
  events_.push({end, EventKind::kDeparture, number, number, 0, {}});
  const Picoseconds arrival = end + link.configuration.delay;
  events_.push({arrival, EventKind::kArrival,
                (std::uint64_t{tie_break_.place(number, arrival)} << 32) | number, number, 0, packet});
}

void Engine::arrive(std::uint32_t number, Packet packet) {
  Link& link = links_[number];
  ++packet_hops_;
  const Bytes wire = framing_.wire_bytes(packet.frame_bytes);
  const Picoseconds serialisation = duration_of(wire, picoseconds_per_byte(link.configuration.rate));
  if (packet.kind == PacketKind::kPause) {
    link.received_bytes += packet.frame_bytes;
    --packets_;
    record(number, packet, PacketFate::kArrived);
    return on_pause_frame(reverse_of(number), packet.pause_frame);
  }
  const Picoseconds sent = now_ - link.configuration.delay - serialisation;
  if (link.loss.loses({sent, now_, packet.ip_id})) {
    ++link.lost_packets;
    --packets_;
    return record(number, packet, PacketFate::kLost);
  }
  if (nodes_[link.to].is_host && !is_received(link.to, packet.frame_bytes)) {
    ++links_[number].lost_packets;
    --packets_;
    return record(number, packet, PacketFate::kSlowReceiver);
  }
  links_[number].received_bytes += packet.frame_bytes;
  if (packet.kind == PacketKind::kStray) {
    ++links_[number].stray_packets;
    --packets_;
    return record(number, packet, PacketFate::kStray);
  }
  if (has_event(number)) return apply_events(number, packet);
  if (nodes_[link.to].is_host) record(number, packet, PacketFate::kArrived);
  pass_on(number, packet);
}

void Engine::pass_on(std::uint32_t number, Packet packet) {
  const Link& link = links_[number];
  if (nodes_[link.to].is_host) return receive(packet);
  ++packet.hop;
  if (packet.is_sprayed && has_rerouted_) {
    turn_to(way_from(link.to, packet.from, packet.data.entropy).front(), packet);
  }
  if (packet.is_sprayed && packet.kind != PacketKind::kAcknowledgement && nodes_[link.to].port_selector)
    choose(number, packet);
  const std::uint32_t next = route_of(packet)[packet.hop];
  if (is_route_end(next)) {
    record(number, packet, next == kFloods ? PacketFate::kFlooded : PacketFate::kExpired);
    return end_route(number, packet, next);
  }
  if (!has_event(number)) record(number, packet, PacketFate::kArrived);
  enqueue(next, packet);
}

void Engine::enqueue(std::uint32_t number, Packet packet) {
  packet.queued = now_;
  give_route(packet);
  if (links_[number].trimming) trim_if_full(number, packet);
  store(number, packet);
}

void Engine::store(std::uint32_t number, Packet packet) {
  Link& link = links_[number];
  const bool is_blocked = has_priority(link.blocked, packet.priority);
  const std::int64_t queue_bytes = link.queues[packet.priority].bytes;
  if (is_blocked ||
      (link.marker && link.marker->on_arrival(packet.priority, queue_bytes, packet.data.is_ecn_capable)))
    return refuse(link, number, packet, is_blocked ? PacketFate::kWatchdog : PacketFate::kMarker);
  const rogue::Verdict verdict = link.aqm ? run_arrival_aqm(link, packet) : rogue::Verdict::kTake;
  if (verdict == rogue::Verdict::kDrop) return refuse(link, number, packet, PacketFate::kMarker);
  Queue& queue = link.queues[link.has_classes ? packet.priority : 0];
  if (!link.is_busy && !link.pauses.is_paused(packet.priority, now_)) {
    if (link.marker) mark(link, packet);
    if (verdict == rogue::Verdict::kMark) queue.mark(packet);
    if (link.aqm && !may_depart(link, packet)) return refuse(link, number, packet, PacketFate::kMarker);
    write_telemetry(link, packet);
    if (link.input) queue.turn = link_before(packet) + 1;
    return start(number, packet);
  }
  if (!nodes_[link.from].is_host && !admit(link, packet))
    return refuse(link, number, packet, PacketFate::kBuffer);
  if (link.marker && !link.marker->is_at_departure(packet.priority)) mark(link, packet);
  if (verdict == rogue::Verdict::kMark) queue.mark(packet);
  queue.waiting.push_back(packet);
  queue.bytes += packet.frame_bytes;
  queue.bytes_max = std::max(queue.bytes_max, queue.bytes);
  if (link.rocc) watch_congestion(link);
}

void Engine::trim_if_full(std::uint32_t number, Packet& packet) {
  Link& link = links_[number];
  const std::optional<Bytes> above = link.trimming->above;
  const bool must_wait = link.is_busy || link.pauses.is_paused(packet.priority, now_);
  const std::int64_t queue_bytes = link.queues[packet.priority].bytes + packet.frame_bytes;
  if (!above || !must_wait || queue_bytes <= above->value) return;
  if (!trim_newest(number, packet)) cut(link, packet);
}

bool Engine::trim_newest(std::uint32_t number, const Packet& packet) {
  Link& link = links_[number];
  if (!link.trimming_coin || !packet.can_be_trimmed()) return false;
  Queue& queue = link.queues[packet.priority];
  const auto shares_queue = [&](const Packet& other) {
    return !link.input || link_before(other) == link_before(packet);
  };
  const auto newest = std::find_if(queue.waiting.rbegin(), queue.waiting.rend(), shares_queue);
  if (newest == queue.waiting.rend() || !newest->can_be_trimmed()) return false;
  if (link.trimming_coin->next_fraction() < 0.5) return false;
  Packet cut_off = *newest;
  queue.waiting.erase(std::next(newest).base());
  queue.bytes -= cut_off.frame_bytes;
  if (link.turns && queue.waiting.empty()) link.turns->on_empty(packet.priority);
  release(link.from, cut_off);
  cut(link, cut_off);
  store(number, cut_off);
  return true;
}

void Engine::cut(Link& link, Packet& packet) {
  if (packet.kind != PacketKind::kData || !packet.data.trim(nodes_[link.to].is_host)) return;
  packet.frame_bytes -= packet.data.payload_bytes;
  packet.priority = link.trimming->priority;
  ++link.trimmed_packets;
  link.trimmed_bytes += packet.data.payload_bytes;
}

bool Engine::admits(const Link& link, std::uint32_t frame_bytes) const {
  const Node& element = nodes_[link.from];
  if (!element.configuration.buffer) return true;
  const std::int64_t free = element.configuration.buffer->value - element.used;
  const double threshold = element.configuration.alpha * static_cast<double>(free);
  return frame_bytes <= free && static_cast<double>(link.queues[0].bytes) < threshold;
}

void Engine::receive(const Packet& packet) {
  if (packet.is_corrupt) {
    --packets_;
    return;
  }
  if (packet.kind == PacketKind::kDatagram) {
    --packets_;
    return on_datagram(*packet.datagram);
  }
  const std::uint32_t qp = queue_pairs_[packet.from].peer;
  --packets_;
  if (packet.kind == PacketKind::kCnp) return on_cnp(qp);
  if (packet.kind == PacketKind::kFeedback) return on_feedback(qp, packet);
  if (packet.is_marked && may_be_marked(packet.kind)) send_cnp(qp);
  if (is_reply(packet.kind)) {
    on_reply(qp, packet);
  } else {
    on_request(qp, packet);
  }
}

void Engine::on_request(std::uint32_t qp, const Packet& packet) {
  QueuePair& receiver = queue_pairs_[qp];
  if (receiver.state != QueuePairState::kReadyToSend) return;
  if (packet.kind == PacketKind::kData) return on_data(qp, packet);
  const Reply reply = accept(qp, packet);
  check_delivery(qp);
  if (reply.kind == ReplyKind::kNone) return;
  if (!receiver.responses.empty()) return receiver.responses.add_reply(reply);
  const PacketKind kind = reply.kind == ReplyKind::kAck ? PacketKind::kAck : PacketKind::kNak;
  Packet sent{kind, qp, 0, reply.psn, framing_.ack_frame_bytes, 0, {}};
  sent.priority = receiver.priority;
  sent.sent = packet.sent;
  sent.acknowledges_marked = packet.is_marked;
  sent.hops = packet.hops;
  const bool is_nak = kind == PacketKind::kNak;
  const NicProfile& profile = node_of(qp).profile;
  send_later(receiver.route->front(), sent, is_nak ? profile.nak_delay : Picoseconds{});
  if (is_nak && profile.cnp_with_nak) send_cnp(qp);
}

void Engine::on_reply(std::uint32_t qp, const Packet& packet) {
  QueuePair& sender = queue_pairs_[qp];
  if (sender.state != QueuePairState::kReadyToSend) return;
  if (packet.acknowledgement) return on_acknowledgement(qp, packet);
  const bool had_packet = sender.has_packet();
  const std::uint64_t naks = sender.requester.counters().naks;
  const std::uint64_t next_psn = sender.requester.next_psn();
  if (!apply_reply(qp, packet)) return fail(qp);
  if (packet.kind == PacketKind::kNak) sender.recoveries += sender.requester.counters().naks - naks;
  if (sender.controller) tell_acknowledgement(qp, packet);
  if (!had_packet && sender.has_packet()) sender.ready = std::max(sender.ready, now_);
  const Picoseconds delay = node_of(qp).profile.resend_delay;
  if (sender.requester.next_psn() < next_psn && delay != Picoseconds{})
    sender.ready = std::max(sender.ready, now_ + delay);
  set_deadline_timer(qp);
  send_if_possible(sender.route->front());
}

bool Engine::apply_reply(std::uint32_t qp, const Packet& packet) {
  RcRequester& requester = queue_pairs_[qp].requester;
  const auto on_done = [&](const Verb& verb) { complete(qp, verb, VerbStatus::kSuccess); };
  if (packet.kind == PacketKind::kAck) return requester.on_ack(packet.psn, now_, on_done);
  if (packet.kind == PacketKind::kNak) return requester.on_nak(packet.psn, now_, on_done);
  bool is_accepted = false;
  const bool is_alive =
      requester.on_response(packet.psn, payload_of(packet), packet.details.left, now_, is_accepted, on_done);
  if (is_accepted) memories_.store_payload(qp, VerbKind::kRead, packet.details, payload_of(packet), now_);
  check_delivery(queue_pairs_[qp].peer);
  return is_alive;
}

void Engine::on_retransmit_timer(std::uint32_t qp) {
  QueuePair& sender = queue_pairs_[qp];
  if (sender.is_unreliable) return on_departure_timer(qp);
  if (sender.reliability) return on_reliability_timer(qp);
  const bool had_packet = sender.has_packet();
  if (!sender.requester.on_timeout(now_)) return fail(qp);
  if (!had_packet) sender.ready = std::max(sender.ready, now_);
  set_deadline_timer(qp);
  send_if_possible(sender.route->front());
}

void Engine::set_deadline_timer(std::uint32_t qp) {
  const QueuePair& sender = queue_pairs_[qp];
  if (sender.is_unreliable) return follow_departures(qp);
  if (sender.reliability) return follow_both_deadlines(qp);
  if (timers_[sender.timer].deadline == sender.requester.deadline()) return;
  set_timer(sender.timer, sender.requester.deadline());
}

void Engine::fail(std::uint32_t qp) {
  QueuePair& sender = queue_pairs_[qp];
  sender.state = QueuePairState::kError;
  sender.responses.clear();
  late_completions_.deliver(qp, kNever, mailbox_);
  const auto on_failed = [&](const Verb& verb, VerbStatus status) { complete(qp, verb, status); };
  if (sender.reliability) {
    sender.reliability->requester->fail(on_failed);
  } else {
    sender.requester.fail(on_failed);
  }
  set_deadline_timer(qp);
  mailbox_.call({HostCallKind::kQueuePairEvent, qp, static_cast<int>(QueuePairState::kError)});
}

void Engine::complete(std::uint32_t qp, const Verb& verb, VerbStatus status) {
  recorder_.on_verb_done(queue_pair_number(qp), verb, status, now_);
  if (!verb.is_signaled && status == VerbStatus::kSuccess) return;
  const bool has_pci_time = status == VerbStatus::kSuccess && !queue_pairs_[qp].is_unreliable;
  const Picoseconds pci = has_pci_time ? node_of(qp).pci.reliable(verb.length) : Picoseconds{};
  queue_completion(qp, CompletionLine::kSends, pci,
                   {.wr_id = verb.wr_id,
                    .nic_ns = 0,
                    .byte_len = verb.length.value,
                    .status = static_cast<int>(status),
                    .left_nic = verb.left_nic});
}

void Engine::queue_completion(std::uint32_t qp, CompletionLine line, Picoseconds pci, Completion completion) {
  const Picoseconds at = late_completions_.arrival(qp, line, now_ + pci);
  completion.nic_ns = node_of(qp).clock.read_ns(at);
  late_completions_.hold(qp, line, at, completion);
  if (at == now_) return late_completions_.deliver(qp, now_, mailbox_);
  set_timer(add_timer(TimerKind::kCompletion, qp), at);
}

}  // namespace simulator::reference
