// Hosts: what their software posts, and the packets that reach them.

#include <algorithm>
#include <string>

#include "engine/departures.h"

namespace simulator {

// The limiter has a new rate: its queue pairs may be ready earlier or later than their entry in the heap, but not
// before `earliest`.
void Engine::refresh_ready(Nic& nic, std::uint32_t limiter, Picoseconds earliest) {
  for (const std::uint32_t qp : nic.paused) {
    Sender& sender = world_.senders[qp];
    if (sender.limiter == limiter) sender.ready = std::max(sender.ready, earliest);
  }
  nic.ready.rebuild([&](ReadyQueuePair& entry) {
    Sender& sender = world_.senders[entry.qp()];
    if (sender.limiter != limiter) return true;
    sender.ready = std::max(sender.ready, earliest);
    entry.set_ready(world_.limiters[limiter].earliest(sender.ready));
    return true;
  });
}

void Engine::arm_retransmit_timer(Sender& sender) {
  sender.is_timer_pending = true;
  timers_.set(sender.timer, sender.requester.deadline());
  set_timer_slot();
}

bool Engine::is_paused(const Sender& sender) const {
  const Port& port = world_.ports[sender.link];
  return port.has(Port::kClassed) && world_.classes_of(port).is_paused(sender.priority(), now_);
}

// Puts a queue pair into the NIC's heap, or takes it out, as it has something to send or not.
void Engine::reconsider(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  if (sender.is_ready == sender.has_packet()) return;
  sender.is_ready = !sender.is_ready;
  Nic& nic = world_.nics[sender.nic];
  if (!sender.is_ready) {
    nic.ready.rebuild([&](const ReadyQueuePair& entry) { return entry.qp() != qp; });
    std::erase(nic.paused, qp);
    return;
  }
  sender.ready = std::max(sender.ready, now_);
  if (is_paused(sender)) return nic.paused.push_back(qp);
  queue_up(nic, qp);
}

// After a NAK the NIC takes its time before it sends anything of the queue pair again.
void Engine::hold_back_resent(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  Nic& nic = world_.nics[sender.nic];
  if (nic.profile.resend_delay == Picoseconds{}) return;
  sender.ready = std::max(sender.ready, now_ + nic.profile.resend_delay);
  nic.ready.rebuild([&](ReadyQueuePair& entry) {
    if (entry.qp() == qp) entry.set_ready(world_.limiters[sender.limiter].earliest(sender.ready));
    return true;
  });
}

// A packet that leaves before data, but not at once.
void Engine::send_later(std::uint32_t link, PacketIndex index, Picoseconds delay) {
  if (delay == Picoseconds{}) return send_before_data(link, index);
  world_.held.push_back(index);
  timers_.set_once(TimerKind::kLateReply, index, now_ + delay);
  set_timer_slot();
}

void Engine::on_late_reply(PacketIndex index) {
  std::erase(world_.held, index);
  const Sender& origin = world_.senders[world_.senders[world_.pool[index].qp].peer];
  send_before_data(origin.link, index);
}

void Engine::queue_up(Nic& nic, std::uint32_t qp) {
  const Sender& sender = world_.senders[qp];
  nic.ready.push({world_.limiters[sender.limiter].earliest(sender.ready), sender.served, qp});
}

void Engine::fail(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  sender.state = QueuePairState::kError;
  forget_responses(qp);
  late_completions_.deliver(qp, kNever, mailbox_);
  const auto on_failed = [&](const Verb& verb, VerbStatus status) { complete(qp, verb, status); };
  if (sender.has_reliability) {
    sender.has_special = false;
    timers_.cancel(sender.timer);
    world_.reliabilities[qp].requester->fail(on_failed);
  } else {
    sender.requester.fail(on_failed);
  }
  reconsider(qp);
  mailbox_.call({HostCallKind::kQueuePairEvent, qp, static_cast<int>(QueuePairState::kError)});
  stop_if_hosts_wait();
}

// Host software is called when nothing more happens at this instant.
void Engine::stop_if_hosts_wait() {
  if (mailbox_.has_calls()) horizon_ = now_;
}

void Engine::complete(std::uint32_t qp, const Verb& verb, VerbStatus status) {
  recorder_.on_verb_done(queue_pair_number(qp), verb, status, now_);
  if (!verb.is_signaled && status == VerbStatus::kSuccess) return;
  const bool has_pci_time = status == VerbStatus::kSuccess && !world_.senders[qp].is_unreliable;
  const Picoseconds pci =
      has_pci_time ? world_.nics[world_.senders[qp].nic].pci.reliable(verb.length) : Picoseconds{};
  queue_completion(qp, CompletionLine::kSends, pci,
                   {.wr_id = verb.wr_id,
                    .nic_ns = 0,
                    .byte_len = verb.length.value,
                    .status = static_cast<int>(status),
                    .left_nic = verb.left_nic});
}

// The card's clock is read when the host can see the completion.
void Engine::queue_completion(std::uint32_t qp, CompletionLine line, Picoseconds pci, Completion completion) {
  const Picoseconds at = late_completions_.arrival(qp, line, now_ + pci);
  completion.nic_ns = world_.nics[world_.senders[qp].nic].clock.read_ns(at);
  late_completions_.hold(qp, line, at, completion);
  if (at == now_) return deliver_completions(qp);
  timers_.set_once(TimerKind::kCompletion, qp, at);
  set_timer_slot();
}

void Engine::deliver_completions(std::uint32_t qp) {
  late_completions_.deliver(qp, now_, mailbox_);
  stop_if_hosts_wait();
}

void Engine::on_retransmit_timer(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  if (sender.is_unreliable) return on_departure_timer(qp);
  if (sender.has_reliability) return reliabilities_.on_timer(qp);
  sender.is_timer_pending = false;
  change_nic(sender.link, [&] {
    RcRequester& requester = sender.requester;
    if (requester.deadline() > now_) return false;
    if (requester.on_timeout(now_)) {
      reconsider(qp);
    } else {
      fail(qp);
    }
    return true;
  });
  if (!sender.is_timer_pending && sender.requester.deadline() != kNever) arm_retransmit_timer(sender);
}

std::int64_t Engine::post(std::uint32_t qp, const Verb& verb) {
  Sender& sender = world_.senders[qp];
  if (!sender.is_operational()) {
    throw QueuePairError(queue_pair_name(qp) + " is in state " + std::string(name_of(sender.state)) +
                         ": posting needs RTS (3)");
  }
  if (sender.is_unreliable && verb.kind == VerbKind::kRead)
    throw QueuePairError(queue_pair_name(qp) + " is of type UC, which has no READ");
  Verb posted = verb;
  if (memories_.is_bound(qp) && verb.kind != VerbKind::kSend) {
    memories_.check(qp, verb);
    posted.moves_bytes = true;
  }
  const std::int64_t nic_ns = nic_clock_ns(qp);
  if (sender.has_reliability) {
    reliabilities_.post(qp, posted);
    return nic_ns;
  }
  change_nic(sender.link, [&] {
    sender.requester.post(posted);
    reconsider(qp);
    return true;
  });
  if (sender.is_unreliable && !sender.is_timer_pending) watch_departure(qp);
  return nic_ns;
}

void Engine::reset(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  reliabilities_.require_resettable(qp);
  change_nic(sender.link, [&] {
    sender.state = QueuePairState::kReset;
    sender.has_been_reset = true;
    sender.requester.restart(0);
    forget_responses(qp);
    timers_.cancel(sender.timer);
    sender.is_timer_pending = false;
    mailbox_.forget(qp);
    late_completions_.forget(qp);
    deliveries_.forget(qp);
    reconsider(qp);
    return true;
  });
}

void Engine::ready(std::uint32_t qp, std::uint32_t sq_psn, std::uint32_t rq_psn) {
  Sender& sender = world_.senders[qp];
  if (sender.state != QueuePairState::kReset) {
    throw QueuePairError(queue_pair_name(qp) + " is in state " + std::string(name_of(sender.state)) +
                         ": ready needs RESET (0)");
  }
  sender.requester.restart(sq_psn);
  world_.receivers[qp].responder.restart(rq_psn);
  if (sender.is_unreliable) world_.extras_of(qp).unreliable.restart();
  sender.state = QueuePairState::kReadyToSend;
}

BitsPerSecond Engine::set_rate(std::uint32_t qp, BitsPerSecond rate) {
  const Sender& sender = world_.senders[qp];
  controls_.require_none(qp, "set_rate");
  Nic& nic = world_.nics[sender.nic];
  const BitsPerSecond effective = rounded_up(rate, nic.profile.rate_step);
  change_nic(sender.link, [&] {
    const Bytes lag{world_.lags[sender.limiter].next_integer(nic.profile.actuation_lag_max.value)};
    Limiter& limiter = world_.limiters[sender.limiter];
    limiter.set_rate(effective, lag, now_);
    if (limiter.is_pending()) return false;
    refresh_ready(nic, sender.limiter, now_);
    return true;
  });
  return effective;
}

void Engine::use_limiter(std::uint32_t qp, std::uint32_t limiter) {
  Sender& sender = world_.senders[qp];
  controls_.require_none(qp, "use_limiter");
  catch_up_host(world_.ports[sender.link]);
  const bool is_idle = world_.with_requester(qp, [](const auto& requester) { return requester.is_idle(); });
  if (!is_idle || sender.has_special)
    throw QueuePairError(queue_pair_name(qp) + " is not idle: use_limiter needs an empty send queue");
  Nic& nic = world_.nics[sender.nic];
  if (limiter >= nic.limiters.size())
    throw SimulationError("use_limiter: the NIC has no limiter " + std::to_string(limiter));
  controls_.require_none_uses(nic.limiters[limiter], "use_limiter");
  sender.limiter = nic.limiters[limiter];
  nic.shares_limiters = true;
}

double Engine::nic_clock_at(std::uint32_t qp, Picoseconds at) const {
  return world_.nics[world_.senders[qp].nic].clock.exact_ns(at);
}

std::int64_t Engine::nic_clock_ns(std::uint32_t qp) const {
  return world_.nics[world_.senders[qp].nic].clock.read_ns(now_);
}

void Engine::record_packets(const PacketLogSettings& settings) {
  require_no_switch_ahead("record_packets", now_);
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
  if (world_.ports[link].has(Port::kHasEvents)) {
    packet_events_.on_arrival(link, index);
    return true;
  }
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
  if (packet.is_marked()) record.flags |= PacketRecord::kMarked;
  if (packet.is_corrupt()) record.flags |= PacketRecord::kCorrupt;
  if (packet.kind == PacketKind::kDatagram) {
    record.source = datagram_queue_pair_number(datagrams_.source_of(index));
    record.destination = datagram_queue_pair_number(packet.qp);
    record.payload = world_.payload_of(packet);
    return;
  }
  record.destination = queue_pair_number(packet.qp);
  if (packet.kind == PacketKind::kFeedback) return;
  record.source = queue_pair_number(world_.senders[packet.qp].peer);
  if (packet.kind == PacketKind::kData) return record.take(reliabilities_.data_of(index));
  if (packet.kind == PacketKind::kAcknowledgement)
    return record.take(reliabilities_.acknowledgement_of(index));
  record.number = packet_psn(packet.psn);
  if (packet.kind == PacketKind::kCnp) return;
  const auto flags = static_cast<std::uint8_t>(packet.flags & ~PacketFlags::kPriority);
  record.take(packet.kind, flags, world_.payload_of(packet), world_.details[index]);
}

}  // namespace simulator
