// The hot path: everything that happens once per packet and link, in one translation unit.
#include "engine/engine.h"

#include <algorithm>

namespace simulator {

RunState Engine::run(Picoseconds limit, std::uint64_t events_max) {
  horizon_ = mailbox_.has_calls() ? now_ : limit;
  for (std::uint64_t n = 0; n < events_max; ++n) {
    const Picoseconds at = tree_.next_instant();
    if (tree_.is_idle() || at > horizon_) {
      if (mailbox_.has_calls()) return RunState::kHostsWaiting;
      now_ = limit;
      return RunState::kReachedLimit;
    }
    if (tree_.must_rebase()) [[unlikely]] {
      rebase();
      continue;
    }
    SIM_CHECK(at >= now_, now_, "event loop", "an event lies in the past");
    now_ = at;
    ++events_;
    const std::uint32_t slot = tree_.next_slot();
    if (slot == kTimerSlot) [[unlikely]] {
      fire_timers();
    } else {
      fire_link(slot - 1);
    }
  }
  return RunState::kSliceUsedUp;
}

void Engine::fire_link(std::uint32_t link) {
  Port& port = ports_[link];
  catch_up(port);
  const PacketIndex index = port.in_flight.head;
  if (index == kNoPacket || pool_[index].arrival > now_) [[unlikely]] {
    set_slot(link);  // the packet that was expected has been slowed down
    return;
  }
  port.in_flight.pop(pool_);
  set_slot(link);
  ++packet_hops_;
  if (port.has(Port::kLossy) && loses(link)) [[unlikely]] return lose(link, index);
  if (port.has(Port::kPeerIsHost)) {
    arrive_at_host(index);
  } else {
    enqueue_at_switch(routes_[++pool_[index].position], index);
  }
}

inline void Engine::depart(Port& port, PacketIndex index, Picoseconds start) {
  Packet& packet = pool_[index];
  const LinkSpeed& speed = speeds_[port.speed];
  const Picoseconds end = start + duration_of(framing_.wire_bytes(packet.frame_bytes), speed.ps_per_byte);
  packet.arrival = end + speed.delay;
  port.busy_until = end;
  port.sent_bytes.value += packet.frame_bytes;
  port.in_flight.push(pool_, index);
}

inline void Engine::catch_up(Port& port) {
  if (port.has(Port::kOwnerIsHost)) {
    catch_up_nic(port);
  } else {
    catch_up_switch(port);
  }
}

inline void Engine::catch_up_switch(Port& port) {
  while (port.busy_until <= now_ && !port.waiting.empty()) {
    const PacketIndex index = port.waiting.pop(pool_);
    const std::uint32_t frame_bytes = pool_[index].frame_bytes;
    port.waiting_bytes.value -= frame_bytes;
    if (port.has(Port::kSharedBuffer)) switches_[port.owner].used -= frame_bytes;
    depart(port, index, port.busy_until);
  }
}

inline void Engine::catch_up_nic(Port& port) {
  while (port.busy_until <= now_) {
    if (!port.waiting.empty()) {
      const PacketIndex index = port.waiting.pop(pool_);
      port.waiting_bytes.value -= pool_[index].frame_bytes;
      depart(port, index, port.busy_until);
      continue;
    }
    Nic& nic = nics_[port.owner];
    if (nic.ready.empty()) return;
    const Picoseconds start = std::max(port.busy_until, first_ready(nic));
    if (start > now_) return;
    send_next(nic, port, start);
  }
}

// When the NIC's first queue pair may send. Entries of queue pairs that share a limiter fall behind it: mend them here.
inline Picoseconds Engine::first_ready(Nic& nic) {
  for (;;) {
    ReadyQueuePair entry = nic.ready.top();
    const Picoseconds ready = nic.limiters[senders_[entry.qp].limiter].earliest(entry.ready);
    if (ready == entry.ready) return ready;
    entry.ready = ready;
    nic.ready.replace_top(entry);
  }
}

inline void Engine::send_next(Nic& nic, Port& port, Picoseconds start) {
  ReadyQueuePair entry = nic.ready.top();
  Sender& sender = senders_[entry.qp];
  RcRequester& requester = sender.requester;
  const PacketPlan plan = requester.plan();
  const PacketIndex index = pool_.allocate();
  Packet& packet = pool_[index];
  packet.position = sender.route;
  packet.qp = sender.peer;
  packet.psn = static_cast<std::uint32_t>(requester.next_psn());
  packet.frame_bytes = static_cast<std::uint16_t>(framing_.write_frame_bytes(plan.payload_bytes, plan.is_first));
  packet.kind = PacketKind::kWrite;
  packet.flags = static_cast<std::uint8_t>((plan.is_first ? Packet::kFirst : 0) | (plan.wants_ack ? Packet::kWantsAck : 0));
  const std::uint32_t frame_bytes = packet.frame_bytes;
  depart(port, index, start);
  requester.on_sent(plan, port.busy_until);
  if (!sender.is_timer_pending && requester.deadline() != kNever) [[unlikely]] arm_retransmit_timer(sender);
  Limiter& limiter = nic.limiters[sender.limiter];
  const bool has_new_rate = limiter.on_sent(entry.ready, start, framing_.wire_bytes(frame_bytes));
  sender.ready = limiter.own_after(entry.ready, start, port.busy_until - start);
  entry.ready = limiter.earliest(sender.ready);
  entry.served = sender.served = ++nic.served;
  if (requester.has_packet()) {
    nic.ready.replace_top(entry);
  } else {
    sender.is_ready = false;
    nic.ready.pop();
  }
  if (has_new_rate) [[unlikely]] refresh_ready(nic, sender.limiter, Picoseconds{});
}

// The limiter has taken a new rate: its queue pairs may be ready earlier or later than the heap says, but not before
// `earliest`.
void Engine::refresh_ready(Nic& nic, std::uint32_t limiter, Picoseconds earliest) {
  nic.ready.rebuild([&](ReadyQueuePair& entry) {
    Sender& sender = senders_[entry.qp];
    if (sender.limiter != limiter) return true;
    sender.ready = std::max(sender.ready, earliest);
    entry.ready = nic.limiters[limiter].earliest(sender.ready);
    return true;
  });
}

void Engine::arm_retransmit_timer(Sender& sender) {
  sender.is_timer_pending = true;
  timers_.set(sender.timer, sender.requester.deadline());
  set_timer_slot();
}

// The arrival of the first packet in flight. If there is none, that of the packet which will be sent next.
inline Picoseconds Engine::instant_of(const Port& port) {
  if (!port.in_flight.empty()) return pool_[port.in_flight.head].arrival;
  if (!port.has(Port::kOwnerIsHost)) return kNever;
  Nic& nic = nics_[port.owner];
  if (nic.ready.empty()) return kNever;
  const Picoseconds start = std::max(port.busy_until, first_ready(nic));
  const PacketPlan plan = senders_[nic.ready.top().qp].requester.plan();
  const Bytes wire = framing_.wire_bytes(framing_.write_frame_bytes(plan.payload_bytes, plan.is_first));
  const LinkSpeed& speed = speeds_[port.speed];
  return start + duration_of(wire, speed.ps_per_byte) + speed.delay;
}

inline void Engine::enqueue_at_switch(std::uint32_t link, PacketIndex index) {
  Port& port = ports_[link];
  catch_up_switch(port);
  if (port.busy_until <= now_) {
    const bool was_empty = port.in_flight.empty();
    depart(port, index, now_);
    if (was_empty) set_slot(link);
    return;
  }
  const std::uint32_t frame_bytes = pool_[index].frame_bytes;
  if (port.has(Port::kSharedBuffer)) {
    if (!admits(port, frame_bytes)) return drop(link, index);
    switches_[port.owner].used += frame_bytes;
  }
  port.waiting.push(pool_, index);
  port.waiting_bytes.value += frame_bytes;
  port.waiting_bytes_max = std::max(port.waiting_bytes_max, port.waiting_bytes);
}

// Dynamic threshold: a port holds at most alpha times the free buffer. Source: reference 3.4 (Choudhury, Hahne 1998).
// The buffer seems fuller than it is while other ports lag behind, so only a refusal needs them caught up.
bool Engine::admits(Port& port, std::uint32_t frame_bytes) {
  Switch& element = switches_[port.owner];
  const auto fits = [&] {
    const std::int64_t free = element.buffer - element.used;
    return frame_bytes <= free && static_cast<double>(port.waiting_bytes.value) < element.alpha * static_cast<double>(free);
  };
  if (fits()) return true;
  for (const std::uint32_t link : element.links) catch_up_switch(ports_[link]);
  return fits();
}

void Engine::drop(std::uint32_t link, PacketIndex index) {
  ++links_[link].dropped_packets;
  forget(index);
}


bool Engine::loses(std::uint32_t link) {
  LinkRecord& record = links_[link];
  return record.loss.next_fraction() < record.loss_probability;
}

void Engine::lose(std::uint32_t link, PacketIndex index) {
  ++links_[link].lost_packets;
  links_[link].lost_bytes.value += pool_[index].frame_bytes;
  forget(index);
}

// A packet ends here without reaching its queue pair.
void Engine::forget(PacketIndex index) {
  const Packet& packet = pool_[index];
  Sender& origin = senders_[senders_[packet.qp].peer];
  ++(packet.kind == PacketKind::kWrite ? origin.missing_packets : origin.missing_replies);
  pool_.free(index);
}

inline void Engine::arrive_at_host(PacketIndex index) {
  if (pool_[index].kind == PacketKind::kWrite) {
    on_write(index);
  } else {
    on_reply(index);
  }
}

inline void Engine::on_write(PacketIndex index) {
  const Packet& packet = pool_[index];
  Receiver& receiver = receivers_[packet.qp];
  const bool is_first = (packet.flags & Packet::kFirst) != 0;
  const bool wants_ack = (packet.flags & Packet::kWantsAck) != 0;
  const Bytes payload{framing_.write_payload_bytes(packet.frame_bytes, is_first)};
  if (senders_[packet.qp].is_failed) [[unlikely]] {
    receiver.responder.discard();
    pool_.free(index);
    return;
  }
  const Reply answer = receiver.responder.on_write(packet.psn, payload, wants_ack);
  if (answer.kind == ReplyKind::kNone) {
    pool_.free(index);
  } else {
    reply(index, answer);
  }
}

// The data packet turns into its acknowledgement. Acknowledgements leave a NIC before data.
inline void Engine::reply(PacketIndex index, const Reply& answer) {
  Packet& packet = pool_[index];
  Sender& sender = senders_[packet.qp];
  packet.position = sender.route;
  packet.qp = sender.peer;
  packet.psn = answer.psn;
  packet.frame_bytes = static_cast<std::uint16_t>(framing_.ack_frame_bytes);
  packet.kind = answer.kind == ReplyKind::kAck ? PacketKind::kAck : PacketKind::kNak;
  ++sender.sent_replies;
  Port& port = ports_[sender.link];
  const bool was_empty = port.in_flight.empty();
  catch_up_nic(port);
  if (port.busy_until <= now_) {
    depart(port, index, now_);
  } else {
    port.waiting.push(pool_, index);
    port.waiting_bytes.value += framing_.ack_frame_bytes;
  }
  if (was_empty) set_slot(sender.link);
}

inline void Engine::on_reply(PacketIndex index) {
  const Packet packet = pool_[index];
  pool_.free(index);
  Sender& sender = senders_[packet.qp];
  ++receivers_[packet.qp].received_replies;
  if (sender.is_failed) [[unlikely]] return;
  change_nic(sender.link, [&] {
    RcRequester& requester = sender.requester;
    const std::uint64_t next_psn = requester.next_psn();
    const auto on_done = [&](const Verb& verb) { complete(packet.qp, verb, VerbStatus::kSuccess); };
    if (packet.kind == PacketKind::kAck) {
      requester.on_ack(packet.psn, now_, on_done);
    } else if (!requester.on_nak(packet.psn, now_, on_done)) {
      fail(packet.qp);
      return true;
    }
    if (requester.next_psn() == next_psn) [[likely]] return false;
    reconsider(packet.qp);
    return true;
  });
}

// Rule for every change from outside: catch up, change, let go what may go now, set the slot. `change()` tells whether
// the NIC's schedule has changed.
template <class Change>
inline void Engine::change_nic(std::uint32_t link, Change&& change) {
  Port& port = ports_[link];
  const bool was_empty = port.in_flight.empty();
  catch_up_nic(port);
  const bool has_departed = was_empty && !port.in_flight.empty();
  const bool has_changed = change();
  if (has_changed) catch_up_nic(port);
  if (has_departed || (has_changed && was_empty)) set_slot(link);
}

// Puts a queue pair into the NIC's heap, or takes it out, as it has something to send or not.
void Engine::reconsider(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  if (sender.is_ready == sender.requester.has_packet()) return;
  sender.is_ready = !sender.is_ready;
  Nic& nic = nics_[sender.nic];
  if (!sender.is_ready) {
    nic.ready.rebuild([&](const ReadyQueuePair& entry) { return entry.qp != qp; });
    return;
  }
  sender.ready = now_;
  nic.ready.push({nic.limiters[sender.limiter].earliest(now_), sender.served, qp});
}

void Engine::fail(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  sender.is_failed = true;
  sender.requester.fail([&](const Verb& verb, VerbStatus status) { complete(qp, verb, status); });
  reconsider(qp);
  mailbox_.call({HostCallKind::kQueuePairEvent, qp, static_cast<int>(QueuePairState::kError)});
  horizon_ = now_;
}

void Engine::complete(std::uint32_t qp, const Verb& verb, VerbStatus status) {
  recorder_.on_verb_done(queue_pair_number(qp), verb, status, now_);
  if (!verb.is_signaled && status == VerbStatus::kSuccess) return;
  mailbox_.complete(qp, {verb.wr_id, nics_[senders_[qp].nic].clock.read_ns(now_), verb.length.value, static_cast<int>(status)});
  if (mailbox_.has_calls()) horizon_ = now_;
}

void Engine::fire_timers() {
  const std::optional<DueTimer> due = timers_.take_earliest();
  if (due) fire_timer(*due);
  set_timer_slot();
}

void Engine::fire_timer(const DueTimer& due) {
  switch (due.kind) {
    case TimerKind::kRetransmit:
      return on_retransmit_timer(due.subject);
    case TimerKind::kSampleThroughput:
      return on_throughput_timer();
    case TimerKind::kSampleQueues:
      return on_queue_timer();
    case TimerKind::kHost:
      mailbox_.call({HostCallKind::kTimer, due.subject});
      break;
    case TimerKind::kHostOnce:
      mailbox_.call({HostCallKind::kOnce, due.subject});
      break;
  }
  horizon_ = now_;
}

void Engine::on_retransmit_timer(std::uint32_t qp) {
  Sender& sender = senders_[qp];
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

void Engine::catch_up_link(std::uint32_t link) {
  catch_up(ports_[link]);
  set_slot(link);
}

void Engine::catch_up_all() {
  for (std::uint32_t link = 0; link < ports_.size(); ++link) catch_up_link(link);
}

void Engine::rebase() {
  tree_.move_base();
  set_timer_slot();
  for (std::uint32_t link = 0; link < ports_.size(); ++link) set_slot(link);
}

std::int64_t Engine::post_write(std::uint32_t qp, std::uint64_t wr_id, Bytes length, bool is_signaled) {
  Sender& sender = senders_[qp];
  if (sender.is_failed) {
    throw QueuePairError("queue pair " + std::to_string(queue_pair_number(qp)) + " is in state ERR (6): post_write needs RTS (3)");
  }
  const std::int64_t nic_ns = nic_clock_ns(qp);
  change_nic(sender.link, [&] {
    sender.requester.post(wr_id, length, is_signaled);
    reconsider(qp);
    return true;
  });
  return nic_ns;
}

BitsPerSecond Engine::set_rate(std::uint32_t qp, BitsPerSecond rate) {
  const Sender& sender = senders_[qp];
  Nic& nic = nics_[sender.nic];
  const BitsPerSecond effective = rounded_up(rate, nic.profile.rate_step);
  change_nic(sender.link, [&] {
    const Bytes lag{nic.lags[sender.limiter].next_integer(nic.profile.actuation_lag_max.value)};
    Limiter& limiter = nic.limiters[sender.limiter];
    limiter.set_rate(effective, lag, now_);
    if (limiter.is_pending()) return false;
    refresh_ready(nic, sender.limiter, now_);
    return true;
  });
  return effective;
}

std::int64_t Engine::nic_clock_ns(std::uint32_t qp) const { return nics_[senders_[qp].nic].clock.read_ns(now_); }

}  // namespace simulator
