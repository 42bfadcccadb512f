// Ports with a queue for each priority: sending by priority, pausing and being paused.
//
// A departure may end a pause, which others must see at that instant. So while a switch has told anybody to
// pause, it is eager: each of its ports with something to send has its departure as an event of its own.
#include <algorithm>

#include "engine/departures.h"

namespace simulator {

void Engine::catch_up_classed(Port& port, Picoseconds until) {
  ClassedPort& classes = classes_[port.classes];
  for (;;) {
    const Picoseconds free = port.busy_until;
    if (free > until) return;
    if (classes.is_pause_frame_due) {
      send_pause_frame(port, free);
      continue;
    }
    const Picoseconds start = classes.waiting == 0 ? kNever : classes.earliest(free);
    if (port.has(Port::kOwnerIsHost) && send_verb_before(port, start, until)) continue;
    if (start > until) return;
    send_class(port, classes.next(pool_, start), start);
  }
}

// Sends the next packet of a verb, if it is ready before `other` and not after `until`.
bool Engine::send_verb_before(Port& port, Picoseconds other, Picoseconds until) {
  Nic& nic = nics_[port.owner];
  if (nic.ready.empty()) return false;
  const Picoseconds start = std::max(port.busy_until, first_ready(nic));
  if (start >= other || start > until) return false;
  send_next(nic, port, start);
  return true;
}

void Engine::send_class(Port& port, std::uint32_t priority, Picoseconds start) {
  ClassedPort& classes = classes_[port.classes];
  const PacketIndex index = classes.pop(pool_, priority);
  const std::uint32_t frame_bytes = pool_[index].frame_bytes;
  if (classes.marker && classes.marker->is_at_departure(priority)) mark(classes, index);
  port.waiting_bytes.value -= frame_bytes;
  depart(port, index, start);
  if (classes.has_telemetry) write_telemetry(port, index, start);
  if (!port.has(Port::kOwnerIsHost)) release(switches_[port.owner], index, start);
}

// A frame leaves its queue, and with it the account of its ingress.
void Engine::release(Switch& element, PacketIndex index, Picoseconds start) {
  const Packet& packet = pool_[index];
  IngressAccount& account = ingress_of(packet);
  pool_of(element, account).release(account, packet.priority(), packet.frame_bytes);
  if (element.pausing.empty()) return;
  SIM_CHECK(start == now_, now_, "switch", "a departure that may end a pause is booked late");
  std::vector<std::uint32_t> resumed;
  std::erase_if(element.pausing, [&](const Pausing& told) {
    IngressAccount& account = classes_[ports_[told.link].classes].ingress;
    if (!pool_of(element, account).may_resume(account, told.priority)) return false;
    account.pausing &= static_cast<PriorityMask>(~mask_of(told.priority));
    if (std::find(resumed.begin(), resumed.end(), told.link) == resumed.end()) resumed.push_back(told.link);
    return true;
  });
  for (const std::uint32_t link : resumed) tell_pauses(link, now_ - Picoseconds{1});
}

// The packet is at the switch that it came to over the link before the one it takes next.
IngressAccount& Engine::ingress_of(const Packet& packet) {
  const std::uint32_t back = routes_[packet.position - 1] ^ 1;
  return classes_[ports_[back].classes].ingress;
}

void Engine::enqueue_classed(std::uint32_t link, PacketIndex index) {
  Port& port = ports_[link];
  ClassedPort& classes = classes_[port.classes];
  const std::uint32_t priority = pool_[index].priority();
  catch_up_classed(port, now_);
  if (has_priority(classes.shut, priority)) [[unlikely]]
    return drop_classed(link, index);
  if (classes.marker && classes.marker->on_arrival(priority, classes.queues[priority].bytes.value,
                                                   pool_[index].is_ecn_capable())) {
    return drop_classed(link, index);
  }
  if (port.busy_until <= now_ && !classes.pauses.is_paused(priority, now_)) {
    if (classes.marker) mark(classes, index);
    depart(port, index, now_);
    if (classes.has_telemetry) write_telemetry(port, index, now_);
    if (classes.virtual_queues) classes.virtual_queues->on_passed(priority, ingress_of(pool_[index]).input);
    return set_slot(link);
  }
  if (!port.has(Port::kOwnerIsHost) && !admit(link, index)) return;
  if (classes.marker && !classes.marker->is_at_departure(priority)) mark(classes, index);
  const std::uint32_t input = classes.virtual_queues ? ingress_of(pool_[index]).input : 0;
  classes.push(pool_, priority, index, input);
  if (classes.rocc) watch_congestion(classes);
  port.waiting_bytes.value += pool_[index].frame_bytes;
  port.waiting_bytes_max = std::max(port.waiting_bytes_max, port.waiting_bytes);
  set_slot(link);
}

// Marks a packet, or not, by what waits without it.
void Engine::mark(ClassedPort& classes, PacketIndex index) {
  Packet& packet = pool_[index];
  ClassQueue& queue = classes.queues[packet.priority()];
  if (!may_be_marked(packet.kind) || !packet.is_ecn_capable()) return;
  if (!classes.marker->marks(packet.priority(), queue.bytes.value)) return;
  packet.psn |= Packet::kMarked;
  ++queue.marked_packets;
}

// Finds room for a frame; one that gets none is gone. Accounts of ports that lag behind seem fuller than they
// are, so only a refusal needs them caught up.
bool Engine::admit(std::uint32_t link, PacketIndex index) {
  Switch& element = switches_[ports_[link].owner];
  const Packet packet = pool_[index];
  IngressAccount& account = ingress_of(packet);
  PausePool& pool = pool_of(element, account);
  const bool is_lossless = pool.is_lossless(packet.priority());
  const auto fits = [&] {
    if (is_lossless) return pool.fits(account, packet.priority(), packet.frame_bytes);
    const Bytes waiting = classes_[ports_[link].classes].queues[packet.priority()].bytes;
    return pool.fits_lossy(waiting.value, packet.frame_bytes);
  };
  if (!fits()) {
    for (const std::uint32_t other : element.links) catch_up_classed(ports_[other], now_);
    if (!fits()) {
      if (!is_lossless) return drop_classed(link, index), false;
      if (!pool.charge_headroom(account, packet.priority(), packet.frame_bytes)) {
        ++classes_[ports_[link].classes].lossless_drops;
        return drop_classed(link, index), false;
      }
      pause(element, routes_[packet.position - 1] ^ 1, packet.priority());
      return true;
    }
  }
  pool.charge(account, packet.priority(), packet.frame_bytes);
  return true;
}

void Engine::drop_classed(std::uint32_t link, PacketIndex index) {
  ++classes_[ports_[link].classes].queues[pool_[index].priority()].dropped_packets;
  drop(link, index);
}

// Tells the far end of one of the switch's links to pause. All ports of the switch have been caught up.
void Engine::pause(Switch& element, std::uint32_t link, std::uint32_t priority) {
  ClassedPort& classes = classes_[ports_[link].classes];
  if (has_priority(classes.ingress.pausing, priority)) return;
  const bool was_lazy = element.pausing.empty();
  classes.ingress.pausing |= mask_of(priority);
  element.pausing.push_back({link, priority});
  tell_pauses(link, now_);
  if (was_lazy) {
    for (const std::uint32_t other : element.links) set_slot(other);
  }
  const Picoseconds refresh_every = element.pool.pause().refresh_every;
  if (refresh_every == kNever || classes.is_refresh_pending) return;
  classes.is_refresh_pending = true;
  set_timer(classes.refresh_timer, now_ + refresh_every);
}

void Engine::on_refresh_timer(std::uint32_t link) {
  ClassedPort& classes = classes_[ports_[link].classes];
  classes.is_refresh_pending = classes.ingress.pausing != 0;
  if (!classes.is_refresh_pending) return;
  tell_pauses(link, now_);
  timers_.set(classes.refresh_timer, now_ + switches_[ports_[link].owner].pool.pause().refresh_every);
}

// Sends a pause frame as soon as the port is free. What leaves until `caught_up` does not know of it yet.
void Engine::tell_pauses(std::uint32_t link, Picoseconds caught_up) {
  Port& port = ports_[link];
  catch_up_classed(port, caught_up);
  classes_[port.classes].is_pause_frame_due = true;
  if (port.busy_until <= now_) send_pause_frame(port, now_);
  set_slot(link);
}

void Engine::send_pause_frame(Port& port, Picoseconds start) {
  const PacketIndex index = pool_.allocate();
  ClassedPort& classes = classes_[port.classes];
  const PriorityMask lossless = port.has(Port::kOwnerIsHost)
                                    ? lossless_beyond(nics_[port.owner].link)
                                    : switches_[port.owner].pool.pause().priorities;
  const PauseFrame frame{lossless, classes.ingress.pausing};
  Packet& packet = pool_[index];
  packet.psn = frame.packed();
  packet.frame_bytes = PauseFrame::kFrameBytes;
  packet.kind = PacketKind::kPause;
  classes.is_pause_frame_due = false;
  ++classes.pause_frames;
  depart(port, index, start);
}

// A pause frame has come over `link`: it is about the port that sends the other way.
void Engine::on_pause_frame(std::uint32_t link, PacketIndex index) {
  const PauseFrame frame = PauseFrame::unpacked(pool_[index].psn);
  pool_.free(index);
  const bool is_from_host = ports_[link].has(Port::kOwnerIsHost);
  const Picoseconds duration =
      is_from_host ? kNever : switches_[ports_[link].owner].pool.pause().duration;
  const std::uint32_t back = link ^ 1;
  Port& port = ports_[back];
  catch_up_classed(port, now_);
  const Picoseconds until = duration == kNever ? kNever : now_ + duration;
  classes_[port.classes].pauses.on_frame(frame, now_, until, back, recorder_.pauses);
  port.busy_until = std::max(port.busy_until, now_);  // what may go from now on has not left before
  if (port.has(Port::kOwnerIsHost)) sort_paused(port);
  catch_up_classed(port, now_);
  set_slot(back);
  watch_pauses(back);
}

// Queue pairs of a NIC move between those that take turns and those whose priority is paused.
void Engine::sort_paused(Port& port) {
  Nic& nic = nics_[port.owner];
  const PauseState& pauses = classes_[port.classes].pauses;
  const auto is_paused = [&](std::uint32_t qp) { return pauses.is_paused(senders_[qp].priority(), now_); };
  const std::size_t waited = nic.paused.size();
  nic.ready.rebuild([&](const ReadyQueuePair& entry) {
    if (!is_paused(entry.qp)) return true;
    nic.paused.push_back(entry.qp);
    return false;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < nic.paused.size(); ++i) {
    const std::uint32_t qp = nic.paused[i];
    if (i >= waited || is_paused(qp)) {
      nic.paused[kept++] = qp;
    } else {
      const Sender& sender = senders_[qp];
      nic.ready.push({nic.limiters[sender.limiter].earliest(sender.ready), sender.served, qp});
    }
  }
  nic.paused.resize(kept);
  port.busy_until = std::max(port.busy_until, now_);  // nothing of them left before
}

// A departure is due as an event, or a pause has come to its end.
void Engine::fire_departure(std::uint32_t link) {
  Port& port = ports_[link];
  if (port.has(Port::kOwnerIsHost)) {
    catch_up_classed(port, now_ - Picoseconds{1});
    sort_paused(port);
  }
  catch_up_classed(port, now_);
  set_slot(link);
}

// The end of the first pause that queue pairs of a NIC wait for.
Picoseconds Engine::first_resumption(const Port& port) const {
  const PauseState& pauses = classes_[port.classes].pauses;
  Picoseconds first = kNever;
  for (const std::uint32_t qp : nics_[port.owner].paused) {
    first = std::min(first, pauses.paused_until(senders_[qp].priority()));
  }
  return first;
}

// The instant at which something happens at this port next: a departure that must be seen, or an arrival.
Engine::Instant Engine::instant_of_classed(const Port& port) {
  const ClassedPort& classes = classes_[port.classes];
  const bool is_host = port.has(Port::kOwnerIsHost);
  const Picoseconds arrival = port.in_flight.empty() ? kNever : pool_[port.in_flight.head].arrival;
  Picoseconds departure = kNever;
  if (classes.is_pause_frame_due) {
    departure = port.busy_until;
  } else if (classes.waiting != 0) {
    departure = classes.earliest(port.busy_until);
  }
  const bool is_eager = !is_host && !switches_[port.owner].pausing.empty();
  if (!is_eager && arrival != kNever) departure = kNever;
  if (is_host) departure = std::min(departure, first_resumption(port));
  if (arrival == kNever && is_host && !nics_[port.owner].ready.empty()) {
    const Picoseconds start = std::max(port.busy_until, first_ready(nics_[port.owner]));
    if (start < departure) return {expected_arrival(port, start), false};
  }
  return departure <= arrival ? Instant{departure, true} : Instant{arrival, false};
}

void Engine::set_slot_classed(std::uint32_t link) {
  const Instant next = instant_of_classed(ports_[link]);
  if (next.is_departure && next.at != kNever) return tree_.set_departure(link, next.at);
  tree_.set_link(link, next.at);
}

}  // namespace simulator
