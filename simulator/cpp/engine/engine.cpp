// The event loop, and what happens when a packet arrives.
#include "engine/engine.h"

#include <algorithm>

#include "engine/arrivals.h"
#include "engine/departures.h"
#include "engine/prefetch.h"

namespace simulator {

RunState Engine::run(Picoseconds limit, std::uint64_t events_max) {
  horizon_ = mailbox_.has_calls() ? now_ : limit;
  for (const std::uint64_t enough = events_ + events_max; events_ < enough;) {
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
    if (tree_.is_next_an_arrival()) [[likely]] {
      fire_link(tree_.next_link());
    } else if (tree_.is_next_a_link()) {
      fire_departure(tree_.next_link());
    } else {
      fire_timers();
    }
  }
  return RunState::kSliceUsedUp;
}

[[gnu::always_inline]] inline void Engine::fire_link(std::uint32_t link) {
  if (runs_ahead_ && !world_.ports[link].has(Port::kPeerIsHost)) return run_ahead(link);
  if (world_.ports[link].has(Port::kClassed)) return fire_classed_link(link);
  fire_plain_link(link);
}

[[gnu::always_inline]] inline void Engine::fire_plain_link(std::uint32_t link) {
  Port& port = world_.ports[link];
  catch_up_plain(port);
  const PacketIndex index = take_arrived(port, link);
  tree_.set_link(port.slot, link, instant_of(port));
  if (prefetches_) look_ahead_.after(world_, reliabilities_, tree_, link);
  arrive(link, index);
}

[[gnu::always_inline]] inline void Engine::fire_classed_link(std::uint32_t link) {
  Port& port = world_.ports[link];
  catch_up_classed(port, now_);
  const PacketIndex index = take_arrived(port, link);
  set_slot_classed(link);
  if (prefetches_) look_ahead_.after(world_, reliabilities_, tree_, link);
  if (world_.pool[index].kind != PacketKind::kPause) return arrive(link, index);
  take_pause_frame(link, index);
}

void Engine::take_pause_frame(std::uint32_t link, PacketIndex index) {
  ++packet_hops_;
  record(link, index, PacketFate::kArrived);
  on_pause_frame(link, index);
}

[[gnu::always_inline]] inline void Engine::arrive(std::uint32_t link, PacketIndex index) {
  if (!world_.ports[link].has(Port::kPeerIsHost)) return arrive_at_switch(link, index);
  ++packet_hops_;
  if (world_.ports[link].has(Port::kInspectsArrivals)) [[unlikely]] {
    if (ends_on_arrival(link, index)) return;
  }
  arrive_at_host(index);
}

// What an event has to do with a packet is done.
void Engine::pass_on(std::uint32_t link, PacketIndex index) {
  if (world_.ports[link].has(Port::kPeerIsHost)) return arrive_at_host(index);
  world_.pool[index].ingress = reverse_of(link);
  enqueue_at_switch(next_link(link, index), index);
}

void Engine::send_stray(std::uint32_t link, PacketIndex index) {
  enqueue_at_switch(link, index);
}

// Dynamic threshold: a port holds at most alpha times the free buffer. Source: Choudhury and
// Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998. The buffer seems fuller
// than it is while other ports lag behind, so only a refusal needs them caught up.
bool Engine::admits(Port& port, std::uint32_t frame_bytes) {
  Switch& element = world_.switches[port.owner];
  const auto fits = [&] {
    const std::int64_t free = element.buffer - element.used;
    return frame_bytes <= free &&
           static_cast<double>(port.waiting_bytes.value) < element.alpha * static_cast<double>(free);
  };
  if (fits()) return true;
  for (const std::uint32_t link : element.links) catch_up_switch(world_.ports[link]);
  return fits();
}

bool Engine::loses(std::uint32_t link, PacketIndex index) {
  const Port& port = world_.ports[link];
  const LinkSpeed& speed = world_.speeds[port.speed];
  const Bytes wire = world_.framing.wire_bytes(world_.pool[index].frame_bytes);
  const Picoseconds sent = now_ - speed.delay - speed.duration(wire);
  if (world_.ip_ids.are_counted() && port.has(Port::kOwnerIsHost)) world_.ip_ids.number(port.owner, index);
  return world_.links[link].loss.loses({sent, now_, world_.ip_ids.of(index)});
}

// A packet ends here without reaching its queue pair.
void Engine::forget(PacketIndex index) {
  const Packet& packet = world_.pool[index];
  if (packet.kind == PacketKind::kDatagram) {
    datagrams_.lose(index);
  } else if (packet.kind < PacketKind::kDatagram) {
    Sender& origin = world_.senders[world_.senders[packet.qp].peer];
    ++(is_reply(packet.kind) ? origin.missing_replies : origin.missing_packets);
    if (packet.kind == PacketKind::kData && reliabilities_.data_of(index).is_trimmed)
      ++world_.missing_headers;
  }
  world_.pool.free(index);
}

inline void Engine::arrive_at_host(PacketIndex index) {
  if (world_.pool[index].is_marked_or_corrupt()) [[unlikely]] {
    if (world_.pool[index].is_corrupt()) return forget(index);
    if (may_be_marked(world_.pool[index].kind)) controls_.on_marked(index);
  }
  const PacketKind kind = world_.pool[index].kind;
  if (kind == PacketKind::kWrite) {
    on_write(index);
  } else if (kind == PacketKind::kAck || kind == PacketKind::kNak) {
    on_reply(index);
  } else {
    arrive_described(index);
  }
}

inline void Engine::on_write(PacketIndex index) {
  const Packet& packet = world_.pool[index];
  Receiver& receiver = world_.receivers[packet.qp];
  const bool is_first = (packet.flags & PacketFlags::kFirst) != 0;
  const bool wants_ack = (packet.flags & PacketFlags::kWantsAck) != 0;
  const Bytes payload{world_.framing.write_payload_bytes(packet.frame_bytes, is_first)};
  if (!world_.senders[packet.qp].is_operational()) [[unlikely]] {
    receiver.responder.discard();
    world_.pool.free(index);
    return;
  }
  const Reply reply = receiver.responder.on_write(packet.psn, payload, wants_ack);
  if (reply.kind == ReplyKind::kNone) {
    world_.pool.free(index);
  } else {
    if (!deliveries_.is_empty()) [[unlikely]]
      check_delivery(packet.qp);
    turn_into_reply(index, reply);
  }
}

// Not inline: what happens at switches stays small.
[[gnu::noinline]] void Engine::on_reply(PacketIndex index) {
  const Packet packet = world_.pool[index];
  world_.pool.free(index);
  ++world_.receivers[packet.qp].received_replies;
  const Sender& sender = world_.senders[packet.qp];
  if (!sender.is_operational()) [[unlikely]]
    return;
  if (sender.wants_acknowledgements) [[unlikely]]
    return controls_.on_reply_to_controlled(packet, index);
  on_progress(packet.qp, [&](RcRequester& requester, const auto& on_done) {
    return packet.kind == PacketKind::kAck ? requester.on_ack(packet.psn, now_, on_done)
                                           : requester.on_nak(packet.psn, now_, on_done);
  });
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
      return samplers_.sample_throughput(now_);
    case TimerKind::kSampleQueues:
      catch_up_all();
      return samplers_.sample_queues(now_);
    case TimerKind::kRefreshPause:
      return on_refresh_timer(due.subject);
    case TimerKind::kCongestionPoint:
      return feedback_.on_timer(due.subject);
    case TimerKind::kWatchdog:
      return faults_.on_watchdog_timer(due.subject);
    case TimerKind::kReceive:
      return faults_.on_receive_timer(due.subject);
    case TimerKind::kControl:
      return controls_.on_timer(due.subject);
    case TimerKind::kCredit:
      return credits_.on_timer(due.subject);
    case TimerKind::kLateReply:
      return on_late_reply(due.subject);
    case TimerKind::kPacketEvent:
      return packet_events_.on_timer(due.subject);
    case TimerKind::kCompletion:
      return deliver_completions(due.subject);
    case TimerKind::kHost:
      mailbox_.call({HostCallKind::kTimer, due.subject});
      break;
    case TimerKind::kHostOnce:
      mailbox_.call({HostCallKind::kOnce, due.subject});
      break;
  }
  stop_if_hosts_wait();
}

// Moves the base to the next instant, which may lie far beyond the tree's horizon.
void Engine::rebase() {
  const std::uint32_t links = is_complete_ ? static_cast<std::uint32_t>(world_.ports.size()) : 0;
  Picoseconds base = std::min(horizon_, timers_.next_instant());
  for (std::uint32_t link = 0; link < links; ++link) base = std::min(base, next_instant(world_.ports[link]));
  tree_.rebase(base);
  set_timer_slot();
  for (std::uint32_t link = 0; link < links; ++link) set_slot(link);
}

}  // namespace simulator
