// The event loop, and what happens when a packet arrives.
#include "engine/engine.h"

#include <algorithm>

#include "engine/departures.h"
#include "engine/look_ahead.h"

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

inline void Engine::fire_link(std::uint32_t link) {
  if (ports_[link].has(Port::kClassed)) return fire_classed_link(link);
  fire_plain_link(link);
}

void Engine::fire_plain_link(std::uint32_t link) {
  Port& port = ports_[link];
  catch_up_plain(port);
  const PacketIndex index = port.in_flight.head;
  SIM_CHECK(index != kNoPacket && pool_[index].arrival == now_, now_, port_name(link),
            "the packet that the link waited for does not arrive now");
  port.in_flight.pop(pool_);
  tree_.set_link(link, instant_of(port));
  look_ahead(link);
  arrive(link, index);
}

void Engine::fire_classed_link(std::uint32_t link) {
  Port& port = ports_[link];
  catch_up_classed(port, now_);
  const PacketIndex index = port.in_flight.head;
  SIM_CHECK(index != kNoPacket && pool_[index].arrival == now_, now_, port_name(link),
            "the packet that the link waited for does not arrive now");
  port.in_flight.pop(pool_);
  set_slot_classed(link);
  look_ahead(link);
  if (pool_[index].kind != PacketKind::kPause) return arrive(link, index);
  ++packet_hops_;
  on_pause_frame(link, index);
}

inline void Engine::arrive(std::uint32_t link, PacketIndex index) {
  const Port& port = ports_[link];
  ++packet_hops_;
  if (port.has(Port::kLossy | Port::kSlowlyReceived | Port::kRouteEnds)) [[unlikely]] {
    if (port.has(Port::kLossy) && loses(link, index)) return lose(link, index);
    if (ports_[link].has(Port::kSlowlyReceived) && !is_received(link, index)) return lose(link, index);
    if (ports_[link].has(Port::kRouteEnds) && is_at_its_end(link, index)) return;
  }
  if (port.has(Port::kPeerIsHost)) {
    arrive_at_host(index);
  } else {
    Packet& packet = pool_[index];
    packet.ingress = link ^ 1;
    enqueue_at_switch(routes_[++packet.position], index);
  }
}

inline void Engine::enqueue_at_switch(std::uint32_t link, PacketIndex index) {
  Port& port = ports_[link];
  if (port.has(Port::kClassed)) [[unlikely]]
    return enqueue_classed(link, index);
  catch_up_switch(port);
  if (port.busy_until <= now_) return start_now(link, index);
  const std::uint32_t frame_bytes = pool_[index].frame_bytes;
  if (port.has(Port::kSharedBuffer)) {
    if (!admits(port, frame_bytes)) return drop(link, index);
    switches_[port.owner].used += frame_bytes;
  }
  port.waiting.push(pool_, index);
  port.waiting_bytes.value += frame_bytes;
  port.waiting_bytes_max = std::max(port.waiting_bytes_max, port.waiting_bytes);
}

void Engine::send_stray(std::uint32_t link, PacketIndex index) {
  enqueue_at_switch(link, index);
}

// Dynamic threshold: a port holds at most alpha times the free buffer. Source: Choudhury and
// Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998. The buffer seems fuller
// than it is while other ports lag behind, so only a refusal needs them caught up.
bool Engine::admits(Port& port, std::uint32_t frame_bytes) {
  Switch& element = switches_[port.owner];
  const auto fits = [&] {
    const std::int64_t free = element.buffer - element.used;
    return frame_bytes <= free &&
           static_cast<double>(port.waiting_bytes.value) < element.alpha * static_cast<double>(free);
  };
  if (fits()) return true;
  for (const std::uint32_t link : element.links) catch_up_switch(ports_[link]);
  return fits();
}

void Engine::drop(std::uint32_t link, PacketIndex index) {
  ++links_[link].dropped_packets;
  forget(index);
}

bool Engine::loses(std::uint32_t link, PacketIndex index) {
  const Port& port = ports_[link];
  const LinkSpeed& speed = speeds_[port.speed];
  const Bytes wire = framing_.wire_bytes(pool_[index].frame_bytes);
  const Picoseconds sent = now_ - speed.delay - speed.duration(wire);
  return links_[link].loss.loses({sent, now_, identification_of(port, index)});
}

// Packets are numbered at the end of their first link, where they come in the order they left.
std::uint16_t Engine::identification_of(const Port& port, PacketIndex index) {
  if (!counts_identifications_) return 0;
  if (identifications_.size() <= index) identifications_.resize(pool_.peak());
  if (port.has(Port::kOwnerIsHost)) identifications_[index] = nics_[port.owner].next_identification++;
  return identifications_[index];
}

void Engine::lose(std::uint32_t link, PacketIndex index) {
  ++links_[link].lost_packets;
  links_[link].lost_bytes.value += pool_[index].frame_bytes;
  forget(index);
}

// A packet ends here without reaching its queue pair.
void Engine::forget(PacketIndex index) {
  const Packet& packet = pool_[index];
  if (packet.kind == PacketKind::kDatagram) {
    datagrams_.under_way.erase(index);
    ++datagrams_.missing;
  } else if (packet.kind < PacketKind::kDatagram) {
    Sender& origin = senders_[senders_[packet.qp].peer];
    ++(is_reply(packet.kind) ? origin.missing_replies : origin.missing_packets);
  }
  pool_.free(index);
}

inline void Engine::arrive_at_host(PacketIndex index) {
  if (pool_[index].is_marked()) [[unlikely]]
    on_marked(index);
  const PacketKind kind = pool_[index].kind;
  if (kind == PacketKind::kWrite) {
    on_write(index);
  } else if (kind == PacketKind::kAck || kind == PacketKind::kNak) {
    on_reply(index);
  } else {
    arrive_described(index);
  }
}

inline void Engine::on_write(PacketIndex index) {
  const Packet& packet = pool_[index];
  Receiver& receiver = receivers_[packet.qp];
  const bool is_first = (packet.flags & PacketFlags::kFirst) != 0;
  const bool wants_ack = (packet.flags & PacketFlags::kWantsAck) != 0;
  const Bytes payload{framing_.write_payload_bytes(packet.frame_bytes, is_first)};
  if (!senders_[packet.qp].is_operational()) [[unlikely]] {
    receiver.responder.discard();
    pool_.free(index);
    return;
  }
  const Reply answer = receiver.responder.on_write(packet.psn, payload, wants_ack);
  if (answer.kind == ReplyKind::kNone) {
    pool_.free(index);
  } else {
    turn_into_reply(index, answer);
  }
}

inline void Engine::on_reply(PacketIndex index) {
  const Packet packet = pool_[index];
  pool_.free(index);
  ++receivers_[packet.qp].received_replies;
  const Sender& sender = senders_[packet.qp];
  if (!sender.is_operational()) [[unlikely]]
    return;
  if (sender.wants_answers) [[unlikely]]
    return on_controlled_reply(packet, stamps_[index], telemetry_of(index));
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
      return on_throughput_timer();
    case TimerKind::kSampleQueues:
      return on_queue_timer();
    case TimerKind::kRefreshPause:
      return on_refresh_timer(due.subject);
    case TimerKind::kCongestionPoint:
      return on_congestion_timer(due.subject);
    case TimerKind::kWatchdog:
      return on_watchdog_timer(due.subject);
    case TimerKind::kReceive:
      return on_receive_timer(due.subject);
    case TimerKind::kControl:
      return on_control_timer(due.subject);
    case TimerKind::kHost:
      mailbox_.call({HostCallKind::kTimer, due.subject});
      break;
    case TimerKind::kHostOnce:
      mailbox_.call({HostCallKind::kOnce, due.subject});
      break;
  }
  horizon_ = now_;
}

void Engine::catch_up_link(std::uint32_t link) {
  catch_up(ports_[link]);
  set_slot(link);
}

void Engine::catch_up_all() {
  if (!is_connected()) return;
  for (std::uint32_t link = 0; link < ports_.size(); ++link) catch_up_link(link);
}

// Moves the base to the next instant, which may lie far beyond the tree's horizon.
void Engine::rebase() {
  const std::uint32_t links = is_connected() ? static_cast<std::uint32_t>(ports_.size()) : 0;
  Picoseconds base = std::min(horizon_, timers_.next_instant());
  for (std::uint32_t link = 0; link < links; ++link) base = std::min(base, next_instant(ports_[link]));
  tree_.rebase(base);
  set_timer_slot();
  for (std::uint32_t link = 0; link < links; ++link) set_slot(link);
}

}  // namespace simulator
