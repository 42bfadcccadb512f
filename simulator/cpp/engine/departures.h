// The sending half of ports, kept inline: bringing a port up to date, and the instant that its link waits
// for.
#pragma once

#include <algorithm>

#include "engine/engine.h"

namespace simulator {

inline void Engine::depart(Port& port, PacketIndex index, Picoseconds start) {
  Packet& packet = world_.pool[index];
  const LinkSpeed& speed = world_.speeds[port.speed];
  const Picoseconds end = start + speed.duration(world_.framing.wire_bytes(packet.frame_bytes));
  packet.arrival = end + speed.delay;
  port.busy_until = end;
  port.sent_bytes.value += packet.frame_bytes;
  port.in_flight.push(world_.pool, index);
}

// A packet that finds its port idle leaves at once.
inline void Engine::start_now(std::uint32_t link, PacketIndex index) {
  Port& port = world_.ports[link];
  const bool was_empty = port.in_flight.empty();
  depart(port, index, now_);
  if (was_empty) tree_.set_link(port.slot, link, world_.pool[index].arrival);
}

// Acknowledgements and datagrams leave a NIC before the packets of verbs.
inline void Engine::send_before_data(std::uint32_t link, PacketIndex index) {
  Port& port = world_.ports[link];
  if (port.has(Port::kClassed)) [[unlikely]]
    return enqueue_classed(link, index);
  catch_up_nic(port);
  if (port.busy_until <= now_) return start_now(link, index);
  port.waiting.push(world_.pool, index);
  port.waiting_bytes.value += world_.pool[index].frame_bytes;
}

// The data packet turns into its acknowledgement.
inline void Engine::turn_into_reply(PacketIndex index, const Reply& reply) {
  const std::uint32_t qp = world_.pool[index].qp;
  const Sender& sender = world_.senders[qp];
  if (sender.has_special && reply_after_responses(index, reply)) [[unlikely]]
    return;
  Packet& packet = world_.pool[index];
  ++world_.receivers[qp].sent_replies;
  packet.position = sender.route;
  packet.qp = sender.peer;
  packet.psn = packet_psn(reply.psn);
  packet.frame_bytes = static_cast<std::uint16_t>(world_.framing.ack_frame_bytes);
  packet.kind = reply.kind == ReplyKind::kAck ? PacketKind::kAck : PacketKind::kNak;
  packet.flags &= PacketFlags::kPriority;
  if (reply.kind != ReplyKind::kNak) [[likely]]
    return send_before_data(sender.link, index);
  const NicProfile& profile = world_.nics[sender.nic].profile;
  send_later(sender.link, index, profile.nak_delay);
  if (profile.cnp_with_nak) controls_.send_cnp(qp);
}

inline void Engine::catch_up(Port& port) {
  if (port.has(Port::kClassed)) return catch_up_classed(port, now_);
  catch_up_plain(port);
}

inline void Engine::catch_up_host(Port& port) {
  if (port.has(Port::kClassed)) [[unlikely]]
    return catch_up_classed(port, now_);
  catch_up_nic(port);
}

inline void Engine::catch_up_plain(Port& port) {
  if (port.has(Port::kOwnerIsHost)) {
    catch_up_nic(port);
  } else {
    catch_up_switch(port);
  }
}

inline void Engine::catch_up_switch(Port& port) {
  while (port.busy_until <= now_ && !port.waiting.empty()) {
    const PacketIndex index = port.waiting.pop(world_.pool);
    const std::uint32_t frame_bytes = world_.pool[index].frame_bytes;
    if (!port.waiting.empty()) world_.pool.prefetch(port.waiting.head);
    port.waiting_bytes.value -= frame_bytes;
    if (port.has(Port::kSharedBuffer)) world_.switches[port.owner].used -= frame_bytes;
    depart(port, index, port.busy_until);
  }
}

inline void Engine::catch_up_nic(Port& port) {
  while (port.busy_until <= now_ && !port.waiting.empty()) {
    const PacketIndex index = port.waiting.pop(world_.pool);
    port.waiting_bytes.value -= world_.pool[index].frame_bytes;
    depart(port, index, port.busy_until);
  }
  if (port.busy_until <= now_ && world_.nics[port.owner].may_send_until(now_)) send_verbs(port, now_);
}

// Nothing but packets of verbs is left to send. Not inline, so that its callers stay small.
[[gnu::noinline]] inline void Engine::send_verbs(Port& port, Picoseconds until) {
  Nic& nic = world_.nics[port.owner];
  while (port.busy_until <= until && nic.may_send_until(until)) {
    const Picoseconds start = std::max(port.busy_until, first_ready(nic));
    if (start > until) return;
    send_next(nic, port, start);
  }
}

// When the NIC's first queue pair may send. Entries of queue pairs that share a limiter fall behind it: mend
// them here.
inline Picoseconds Engine::first_ready(Nic& nic) {
  if (!nic.shares_limiters) [[likely]]
    return nic.ready.first();
  for (;;) {
    ReadyQueuePair entry = nic.ready.top();
    const Picoseconds ready = world_.limiters[world_.senders[entry.qp()].limiter].earliest(entry.ready());
    if (ready == entry.ready()) return ready;
    entry.set_ready(ready);
    nic.ready.replace_top(entry);
  }
}

inline PacketIndex Engine::send_write(Sender& sender, Port& port, Picoseconds start) {
  RcRequester& requester = sender.requester;
  const PacketPlan plan = requester.plan();
  const PacketIndex index = world_.pool.allocate();
  Packet& packet = world_.pool[index];
  packet.position = sender.route;
  packet.qp = sender.peer;
  packet.psn = packet_psn(requester.next_psn());
  packet.frame_bytes =
      static_cast<std::uint16_t>(world_.framing.write_frame_bytes(plan.payload_bytes, plan.is_first));
  packet.kind = PacketKind::kWrite;
  packet.flags =
      static_cast<std::uint8_t>((plan.is_first ? PacketFlags::kFirst : 0) |
                                (plan.wants_ack ? PacketFlags::kWantsAck : 0) | sender.priority_flags);
  depart(port, index, start);
  requester.on_sent(plan, port.busy_until);
  return index;
}

// `position` of a packet of a verb that leaves its NIC.
inline std::uint32_t Engine::first_position(std::uint32_t qp) {
  const Sender& sender = world_.senders[qp];
  return sender.is_sprayed ? forwarding_.draw(qp) : sender.route;
}

// Inlined into the loop by which nearly all packets leave: a call would cost a tenth of it.
[[gnu::always_inline]] inline void Engine::send_next(Nic& nic, Port& port, Picoseconds start) {
  const std::uint32_t qp = nic.ready.top().qp();
  const Picoseconds eligible = nic.ready.first();
  Sender& sender = world_.senders[qp];
  const PacketIndex index = sender.is_plain() ? send_write(sender, port, start)  //
                                              : send_described(qp, port, start);
  if (!sender.is_timer_pending && sender.requester.deadline() != kNever) [[unlikely]]
    arm_retransmit_timer(sender);
  Limiter& limiter = world_.limiters[sender.limiter];
  const Bytes wire = world_.framing.wire_bytes(world_.pool[index].frame_bytes);
  const bool has_new_rate = limiter.on_sent(eligible, start, wire);
  sender.ready = limiter.own_after(eligible, start, port.busy_until - start);
  if (sender.is_controlled) {
    sender.unreported += wire;
    if (sender.unreported >= sender.unreported_max) controls_.on_sent(qp, index, start);
  }
  sender.served = ++nic.served;
  if (sender.has_packet()) {
    nic.ready.replace_top({limiter.earliest(sender.ready), sender.served, qp});
  } else {
    sender.is_ready = false;
    nic.ready.pop();
  }
  if (has_new_rate) [[unlikely]]
    refresh_ready(nic, sender.limiter, Picoseconds{});
}

inline std::uint32_t Engine::next_frame_bytes(std::uint32_t qp) {
  const Sender& sender = world_.senders[qp];
  if (sender.is_plain()) [[likely]] {
    const PacketPlan plan = sender.requester.plan();
    return world_.framing.write_frame_bytes(plan.payload_bytes, plan.is_first);
  }
  if (sender.has_reliability) {
    const Requester& requester = *world_.reliabilities[qp].requester;
    return requester.frame_bytes(requester.next(), world_.framing);
  }
  const PacketDescription next = describe_next(qp);
  return world_.framing.frame_bytes(next.kind, next.flags, next.payload_bytes);
}

// The arrival of the first packet in flight. If there is none, that of the packet which will be sent next.
inline Picoseconds Engine::instant_of(const Port& port) {
  if (!port.in_flight.empty()) return world_.pool[port.in_flight.head].arrival;
  return port.has(Port::kOwnerIsHost) ? expected_arrival(port) : kNever;
}

// That of the NIC's next packet of a verb, if there is one and nothing else leaves before.
inline Picoseconds Engine::expected_arrival(const Port& port) {
  Nic& nic = world_.nics[port.owner];
  if (nic.ready.first() == kNever) return kNever;
  const Picoseconds start = std::max(port.busy_until, first_ready(nic));
  const LinkSpeed& speed = world_.speeds[port.speed];
  return start + speed.duration(world_.framing.wire_bytes(next_frame_bytes(nic.ready.top().qp()))) +
         speed.delay;
}

inline void Engine::set_slot(std::uint32_t link) {
  const Port& port = world_.ports[link];
  if (port.has(Port::kClassed)) [[unlikely]]
    return set_slot_classed(link);
  tree_.set_link(port.slot, link, instant_of(port));
}

// Rule for every change from outside: catch up with the old state, change, set the slot. `change()` tells
// whether the NIC's schedule has changed.
template <class Change>
inline void Engine::change_nic(std::uint32_t link, Change&& change) {
  Port& port = world_.ports[link];
  catch_up_host(port);
  if (change() && (port.in_flight.empty() || port.has(Port::kClassed))) set_slot(link);
}

// Something came back: `apply(requester, on_done)` informs the requester, and returns false if its retries are
// exhausted.
template <class Apply>
inline void Engine::on_progress(std::uint32_t qp, Apply&& apply) {
  Sender& sender = world_.senders[qp];
  change_nic(sender.link, [&] {
    RcRequester& requester = sender.requester;
    const std::uint64_t next_psn = requester.next_psn();
    const bool had_packet = requester.has_packet();
    const auto on_done = [&](const Verb& verb) { complete(qp, verb, VerbStatus::kSuccess); };
    if (!apply(requester, on_done)) [[unlikely]] {
      fail(qp);
      return true;
    }
    if (requester.next_psn() == next_psn && requester.has_packet() == had_packet) [[likely]]
      return false;
    reconsider(qp);
    if (requester.next_psn() < next_psn) hold_back_resent(qp);
    return true;
  });
}

}  // namespace simulator

#include "engine/classed_departures.h"
