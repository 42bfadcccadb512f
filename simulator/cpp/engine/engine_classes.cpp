// Ports with a queue for each priority: pausing and being paused. What every packet needs is in
// engine/classed_departures.h.
//
// A departure may end a pause, which others must see at that instant. So a switch is eager while it pauses a link: each
// departure from its ports is an event.
#include <algorithm>

#include "engine/departures.h"

namespace simulator {

// Sends the next packet of a port that has a pause frame to send, that may be paused or whose priorities have
// weights, if it may leave until then.
bool Engine::send_in_turn(Port& port, Picoseconds until) {
  ClassedPort& classes = world_.classes_of(port);
  const Picoseconds free = port.busy_until;
  if (classes.is_pause_frame_due) {
    send_pause_frame(port, free);
    return true;
  }
  const Picoseconds start = classes.waiting == 0 ? kNever : classes.earliest(free);
  if (port.has(Port::kOwnerIsHost) && send_verb_before(port, start, until)) return true;
  if (start > until) return false;
  const std::uint32_t priority = classes.next(world_.pool, start);
  if (classes.has_departure_aqm()) {
    send_with_aqm(port, classes, priority, start);
  } else {
    send_class(port, classes, priority, start);
  }
  return true;
}

// Sends the next packet of a verb, if it is ready before `other` and not after `until`.
bool Engine::send_verb_before(Port& port, Picoseconds other, Picoseconds until) {
  Nic& nic = world_.nics[port.owner];
  if (nic.ready.first() == kNever) return false;
  const Picoseconds start = std::max(port.busy_until, first_ready(nic));
  if (start >= other || start > until) return false;
  send_next(nic, port, start);
  return true;
}

// A frame leaves a switch that pauses a link; perhaps the pause can end.
void Engine::release_eagerly(Port& port, PacketIndex index, Picoseconds start) {
  const Packet& packet = world_.pool[index];
  Switch& element = world_.switches[port.owner];
  IngressAccount& ingress = world_.ingress_of(packet);
  world_.buffer_of(element, ingress).release(ingress, packet.priority(), packet.frame_bytes);
  SIM_CHECK(start == now_, now_, "switch", "a departure that may end a pause is booked late");
  std::vector<std::uint32_t> resumed;
  std::erase_if(element.pausing, [&](const Pausing& pausing) {
    IngressAccount& account = world_.ingresses[pausing.link];
    if (!world_.buffer_of(element, account).may_resume(account, pausing.priority)) return false;
    account.pausing &= static_cast<PriorityMask>(~mask_of(pausing.priority));
    if (std::find(resumed.begin(), resumed.end(), pausing.link) == resumed.end())
      resumed.push_back(pausing.link);
    return true;
  });
  if (element.pausing.empty()) set_eager(element, false);
  for (const std::uint32_t link : resumed) announce_pauses(link, now_ - Picoseconds{1});
}

void Engine::set_eager(const Switch& element, bool is_eager) {
  for (const std::uint32_t link : element.links) {
    Port& port = world_.ports[link];
    port.flags =
        static_cast<std::uint16_t>(is_eager ? port.flags | Port::kEager : port.flags & ~Port::kEager);
  }
}

// The marker or the watchdog wants to see what arrives: whether it must be dropped.
bool Engine::is_refused(ClassedPort& classes, const Packet& packet) {
  const std::uint32_t priority = packet.priority();
  if (has_priority(classes.counters->blocked, priority)) return true;
  const std::int64_t waiting_bytes = classes.queues[priority].bytes.value;
  return classes.marker && classes.marker->on_arrival(priority, waiting_bytes, packet.is_ecn_capable());
}

// A packet that has come to a full queue loses its payload if it must wait, or another does. Returns its priority.
std::uint32_t Engine::trim_if_it_waits(std::uint32_t link, PacketIndex index) {
  const Port& port = world_.ports[link];
  const std::uint32_t priority = world_.pool[index].priority();
  const bool must_wait = port.busy_until > now_ || world_.classes_of(port).is_paused(priority, now_);
  if (must_wait && !trim_newest(link, index)) cut(port, index);
  return world_.pool[index].priority();
}

// With a coin the newest waiting packet is trimmed instead of the arriving one, which then takes its place.
bool Engine::trim_newest(std::uint32_t link, PacketIndex index) {
  Port& port = world_.ports[link];
  ClassedPort& classes = world_.classes_of(port);
  std::optional<RandomStream>& coin = classes.counters->trimming_coin;
  if (!coin || !can_be_trimmed(index)) return false;
  const std::uint32_t priority = world_.pool[index].priority();
  const std::uint32_t input = classes.has_virtual_queues ? world_.ingress_of(world_.pool[index]).input : 0;
  const PacketIndex newest = classes.newest(priority, input);
  if (newest == kNoPacket || !can_be_trimmed(newest) || coin->next_fraction() < 0.5) return false;
  classes.pop_newest(world_.pool, priority, input);
  release(port, newest, now_);
  cut(port, newest);
  enqueue_classed(link, newest);
  return true;
}

bool Engine::can_be_trimmed(PacketIndex index) {
  return world_.pool[index].kind == PacketKind::kData && reliabilities_.data_of(index).can_be_trimmed();
}

// Cuts the payload off, if the packet allows that; the rest goes in front.
void Engine::cut(const Port& port, PacketIndex index) {
  Packet& packet = world_.pool[index];
  const ClassedPort& classes = world_.classes_of(port);
  if (packet.kind != PacketKind::kData) return;
  DataPacket& data = reliabilities_.data_of(index);
  if (!data.trim(port.has(Port::kPeerIsHost))) return;
  packet.frame_bytes = static_cast<std::uint16_t>(packet.frame_bytes - data.payload_bytes);
  const std::uint32_t in_front = classes.counters->trimming->priority << PacketFlags::kPriorityShift;
  packet.flags = static_cast<std::uint8_t>((packet.flags & ~PacketFlags::kPriority) | in_front);
  ++classes.counters->trimmed_packets;
  classes.counters->trimmed.value += data.payload_bytes;
}

// Marks a packet, or not, by what waits without it.
void Engine::mark(ClassedPort& classes, PacketIndex index) {
  const Packet& packet = world_.pool[index];
  const std::uint32_t priority = packet.priority();
  const std::int64_t waiting_bytes = classes.queues[priority].bytes.value;
  if (!may_be_marked(packet.kind) || !packet.is_ecn_capable()) return;
  if (classes.marker->marks(priority, waiting_bytes)) set_mark(classes, index);
}

void Engine::set_mark(ClassedPort& classes, PacketIndex index) {
  Packet& packet = world_.pool[index];
  packet.psn |= Packet::kMarked;
  ++classes.counters->priorities[packet.priority()].marked_packets;
}

// There seems to be no room for a frame. Accounts of ports that lag behind seem fuller than they are: looks
// again when all ports of the switch have been caught up. A frame that gets no room is gone.
bool Engine::admit_exactly(std::uint32_t link, PacketIndex index) {
  Switch& element = world_.switches[world_.ports[link].owner];
  for (const std::uint32_t other : element.links) catch_up_classed(world_.ports[other], now_);
  const Packet packet = world_.pool[index];
  const std::uint32_t priority = packet.priority();
  IngressAccount& account = world_.ingress_of(packet);
  SharedBuffer& buffer = world_.buffer_of(element, account);
  if (!buffer.is_lossless(priority)) {
    const Bytes waiting = world_.classes[link].queues[priority].bytes;
    if (!buffer.fits_lossy(waiting.value, packet.frame_bytes))
      return drop_classed(link, index, PacketFate::kBuffer), false;
  } else if (!buffer.fits(account, priority, packet.frame_bytes)) {
    if (!buffer.charge_headroom(account, priority, packet.frame_bytes)) {
      ++world_.classes[link].counters->lossless_drops;
      return drop_classed(link, index, PacketFate::kBuffer), false;
    }
    pause(element, packet.ingress, priority);
    return true;
  }
  buffer.charge(account, priority, packet.frame_bytes);
  return true;
}

void Engine::drop_classed(std::uint32_t link, PacketIndex index, PacketFate fate) {
  ++world_.classes[link].counters->priorities[world_.pool[index].priority()].dropped_packets;
  drop(link, index, fate);
}

// Tells the far end of one of the switch's links to pause. All ports of the switch have been caught up.
void Engine::pause(Switch& element, std::uint32_t link, std::uint32_t priority) {
  ClassedPort& classes = world_.classes[link];
  IngressAccount& account = world_.ingresses[link];
  if (has_priority(account.pausing, priority)) return;
  const bool was_lazy = element.pausing.empty();
  account.pausing |= mask_of(priority);
  element.pausing.push_back({link, priority});
  if (was_lazy) set_eager(element, true);
  announce_pauses(link, now_);
  if (was_lazy) {
    for (const std::uint32_t other : element.links) set_slot(other);
  }
  const Picoseconds refresh_every = element.shared_buffer.pause().refresh_every;
  if (refresh_every == kNever || account.is_refresh_pending) return;
  account.is_refresh_pending = true;
  ++element.refreshes;
  set_timer(classes.counters->refresh_timer, now_ + refresh_every);
}

void Engine::on_refresh_timer(std::uint32_t link) {
  ClassedPort& classes = world_.classes[link];
  IngressAccount& account = world_.ingresses[link];
  Switch& element = world_.switches[world_.ports[link].owner];
  account.is_refresh_pending = account.pausing != 0;
  if (!account.is_refresh_pending) {
    --element.refreshes;
    return;
  }
  announce_pauses(link, now_);
  timers_.set(classes.counters->refresh_timer, now_ + element.shared_buffer.pause().refresh_every);
}

// Sends a pause frame as soon as the port is free. Packets that may start until `caught_up` leave before it. That is
// now, or just before now where a departure of this instant must wait for the frame.
void Engine::announce_pauses(std::uint32_t link, Picoseconds caught_up) {
  Port& port = world_.ports[link];
  catch_up_classed(port, caught_up);
  world_.classes_of(port).is_pause_frame_due = true;
  if (port.busy_until <= now_) send_pause_frame(port, now_);
  set_slot(link);
}

void Engine::send_pause_frame(Port& port, Picoseconds start) {
  const PacketIndex index = world_.pool.allocate();
  ClassedPort& classes = world_.classes_of(port);
  const PriorityMask lossless = port.has(Port::kOwnerIsHost)
                                    ? world_.lossless_beyond(world_.nics[port.owner].link)
                                    : world_.switches[port.owner].shared_buffer.pause().priorities;
  const PauseFrame frame{lossless, world_.ingresses[world_.link_of(port)].pausing};
  Packet& packet = world_.pool[index];
  packet.pause_frame = frame;
  packet.frame_bytes = PauseFrame::kFrameBytes;
  packet.kind = PacketKind::kPause;
  classes.is_pause_frame_due = false;
  ++classes.counters->pause_frames;
  depart(port, index, start);
  if (classes.has_telemetry) feedback_.write_telemetry(port, index, start);
}

// A pause frame has arrived over `link`: it concerns the port of the opposite direction.
void Engine::on_pause_frame(std::uint32_t link, PacketIndex index) {
  const PauseFrame frame = world_.pool[index].pause_frame;
  world_.pool.free(index);
  const bool is_from_host = world_.ports[link].has(Port::kOwnerIsHost);
  const Picoseconds duration =
      is_from_host ? kNever : world_.switches[world_.ports[link].owner].shared_buffer.pause().duration;
  const std::uint32_t back = reverse_of(link);
  Port& port = world_.ports[back];
  catch_up_classed(port, now_);
  const Picoseconds until = duration == kNever ? kNever : now_ + duration;
  ClassedPort& classes = world_.classes_of(port);
  classes.pauses->on_frame(frame, now_, until, back, recorder_.pauses);
  classes.may_be_paused = classes.pauses->may_be_paused();
  port.busy_until = std::max(port.busy_until, now_);  // what may go from now on has not left before
  if (port.has(Port::kOwnerIsHost)) {
    port.flags = static_cast<std::uint16_t>(classes.may_be_paused != 0 ? port.flags | Port::kEager
                                                                       : port.flags & ~Port::kEager);
    sort_paused(port);
  }
  catch_up_classed(port, now_);
  set_slot(back);
  faults_.watch_pauses(back);
}

// Queue pairs of a NIC move between those that take turns and those whose priority is paused.
void Engine::sort_paused(Port& port) {
  Nic& nic = world_.nics[port.owner];
  const ClassedPort& classes = world_.classes_of(port);
  const auto is_paused = [&](std::uint32_t qp) {
    return classes.is_paused(world_.senders[qp].priority(), now_);
  };
  const std::size_t waited = nic.paused.size();
  nic.ready.rebuild([&](const ReadyQueuePair& entry) {
    if (!is_paused(entry.qp())) return true;
    nic.paused.push_back(entry.qp());
    return false;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < nic.paused.size(); ++i) {
    const std::uint32_t qp = nic.paused[i];
    if (i >= waited || is_paused(qp)) {
      nic.paused[kept++] = qp;
    } else {
      queue_up(nic, qp);
    }
  }
  nic.paused.resize(kept);
  port.busy_until = std::max(port.busy_until, now_);  // nothing of them left before
}

// A departure is due as an event, or a pause has come to its end.
void Engine::fire_departure(std::uint32_t link) {
  Port& port = world_.ports[link];
  if (port.has(Port::kOwnerIsHost)) {
    catch_up_classed(port, now_ - Picoseconds{1});
    sort_paused(port);
  }
  catch_up_classed(port, now_);
  set_slot(link);
}

// The end of the first pause that queue pairs of a NIC wait for.
Picoseconds Engine::first_resumption(const Port& port) const {
  const PauseState& pauses = *world_.classes_of(port).pauses;
  Picoseconds first = kNever;
  for (const std::uint32_t qp : world_.nics[port.owner].paused) {
    first = std::min(first, pauses.paused_until(world_.senders[qp].priority()));
  }
  return first;
}

// Nothing is in flight, or the port is eager.
void Engine::set_slot_of_special(std::uint32_t link) {
  const Port& port = world_.ports[link];
  if (!port.has(Port::kEager) && world_.classes_of(port).is_empty()) [[likely]]
    return tree_.set_link(port.slot, link, port.has(Port::kOwnerIsHost) ? expected_arrival(port) : kNever);
  const Instant next = instant_of_classed(port);
  if (next.is_departure && next.at != kNever) return tree_.set_departure(port.slot, link, next.at);
  tree_.set_link(port.slot, link, next.at);
}

// The instant at which something happens next at a port that is eager, or that has something to send and
// nothing in flight: a departure that must be an event, or an arrival.
Engine::Instant Engine::instant_of_classed(const Port& port) {
  const ClassedPort& classes = world_.classes_of(port);
  const bool is_host = port.has(Port::kOwnerIsHost);
  const Picoseconds arrival = port.in_flight.empty() ? kNever : world_.pool[port.in_flight.head].arrival;
  Picoseconds departure = kNever;
  if (classes.is_pause_frame_due) {
    departure = port.busy_until;
  } else if (classes.waiting != 0) {
    departure = classes.earliest(port.busy_until);
  }
  const bool is_eager = !is_host && port.has(Port::kEager);
  if (!is_eager && arrival != kNever) departure = kNever;
  if (is_host) departure = std::min(departure, first_resumption(port));
  if (arrival == kNever && is_host && world_.nics[port.owner].ready.first() != kNever) {
    const Picoseconds start = std::max(port.busy_until, first_ready(world_.nics[port.owner]));
    if (start < departure) return {expected_arrival(port), false};
  }
  return departure <= arrival ? Instant{departure, true} : Instant{arrival, false};
}

}  // namespace simulator
