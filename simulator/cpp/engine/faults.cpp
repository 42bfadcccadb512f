// Faults of links during a run, and routes that end in none.

#include "engine/faults.h"

#include "engine/departures.h"
#include "protocol/fault.h"

namespace simulator {

struct Faults::Injection {
  Faults& faults;

  void operator()(const LinkCut& cut) const {
    faults.engine_.require_no_switch_ahead("cut_link", cut.start);
    faults.world_.links[cut.link].loss.cut(cut.start, cut.end);
    faults.world_.ports[cut.link].flags |= Port::kLossy;
  }

  void operator()(const Rerouting& rerouting) const { faults.engine_.reroute(rerouting.left_out); }

  void operator()(const PacketEvent& event) const { faults.engine_.packet_events_.add(event); }

  void operator()(const NicPause& pause) const { faults.pause_switch(pause.host, pause.is_pausing); }

  void operator()(const SlowReceiver& receiver) const {
    faults.pause_switch(receiver.host, false);
    World& world = faults.world_;
    const std::uint32_t timer = faults.engine_.timers_.create(TimerKind::kReceive, receiver.host);
    faults.slow_receivers_.insert_or_assign(receiver.host, Receiver{ReceiveBuffer(receiver), timer});
    world.ports[reverse_of(world.nics[world.nodes[receiver.host].index].link)].flags |= Port::kSlowlyReceived;
  }
};

void Faults::inject(const Fault& fault) {
  std::visit(Injection{*this}, fault);
}

void Faults::pause_switch(std::uint32_t host, bool is_pausing) {
  const std::uint32_t link = world_.nics[world_.nodes[host].index].link;
  if (!world_.has_flow_control(world_.links[link].to)) return;  // such a switch ignores pauses
  PriorityMask& pausing = world_.ingresses[link].pausing;
  const PriorityMask wanted = is_pausing ? world_.lossless_beyond(link) : PriorityMask{0};
  if (pausing == wanted) return;
  // A pause frame that has left by now told what was so before.
  engine_.catch_up_classed(world_.ports[link], engine_.now_);
  pausing = wanted;
  engine_.announce_pauses(link, engine_.now_);
}

// A frame has come to a NIC that receives slowly. False if it is lost.
bool Faults::is_received(std::uint32_t link, PacketIndex index) {
  const std::uint32_t host = world_.links[link].to;
  auto& [buffer, timer] = slow_receivers_.at(host);
  if (!buffer.takes(engine_.now_, world_.pool[index].frame_bytes)) return false;
  if (!buffer.must_pause()) return true;
  pause_switch(host, true);
  engine_.set_timer(timer, buffer.resumption(engine_.now_));
  return true;
}

void Faults::on_receive_timer(std::uint32_t host) {
  auto& [buffer, timer] = slow_receivers_.at(host);
  if (buffer.may_resume(engine_.now_)) return pause_switch(host, false);
  engine_.timers_.set(timer, buffer.resumption(engine_.now_));
}

// The watchdog of a switch looks at its port to a host: when a pause has lasted too long, or has been over
// long enough.
void Faults::watch_pauses(std::uint32_t link) {
  const Port& port = world_.ports[link];
  if (port.has(Port::kOwnerIsHost) || !port.has(Port::kPeerIsHost)) return;
  const PauseConfiguration& rule = world_.switches[port.owner].shared_buffer.pause();
  if (rule.watchdog_after == kNever) return;
  ClassedPort& classes = world_.classes_of(port);
  const Picoseconds next = classes.pauses->next_check(classes.counters->blocked, rule.watchdog_after,
                                                      rule.watchdog_restore, engine_.now_);
  if (next != kNever) engine_.set_timer(classes.counters->watchdog_timer, next);
}

void Faults::on_watchdog_timer(std::uint32_t link) {
  Port& port = world_.ports[link];
  ClassedPort& classes = world_.classes_of(port);
  const PauseConfiguration& rule = world_.switches[port.owner].shared_buffer.pause();
  engine_.catch_up_classed(port, engine_.now_);
  for_each_priority(classes.counters->blocked, [&](std::uint32_t priority) {
    if (!classes.pauses->has_been_free(priority, rule.watchdog_restore, engine_.now_)) return;
    classes.counters->blocked &= static_cast<PriorityMask>(~mask_of(priority));
  });
  for_each_priority(rule.priorities, [&](std::uint32_t priority) {
    if (has_priority(classes.counters->blocked, priority)) return;
    if (!classes.pauses->has_been_paused(priority, rule.watchdog_after, engine_.now_)) return;
    classes.counters->blocked |= mask_of(priority);
    ++classes.counters->watchdog_fired;
    empty_queue(link, priority);
  });
  classes.inspect_arrivals();
  engine_.set_slot(link);
  watch_pauses(link);
}

void Faults::empty_queue(std::uint32_t link, std::uint32_t priority) {
  while (has_priority(world_.classes[link].waiting, priority)) {
    Port& port = world_.ports[link];
    const PacketIndex index = world_.classes_of(port).pop(world_.pool, priority);
    engine_.release(port, index, engine_.now_);
    engine_.drop_classed(link, index, PacketFate::kWatchdog);
  }
}

// Called for every packet behind the last link of such a route. A copy's route has one entry: the
// link that it takes.
void RouteEnds::prepare(const std::vector<std::uint32_t>& route) {
  if (!is_route_end(route.back())) return;
  const std::uint32_t link = route[route.size() - 2];
  world_.ports[link].flags |= Port::kRouteEnds;
  if (route.back() != kFloods || floods_.contains(link)) return;
  floods_[link] = static_cast<std::uint32_t>(world_.routes.size());
  for (const std::uint32_t out : world_.switches[world_.switch_behind(link)].links) {
    if (out == reverse_of(link)) continue;
    world_.routes.push_back(out);
    world_.ports[out].flags |= Port::kRouteEnds;
  }
}

// Returns whether the packet goes no further. A packet that is not at a host has a next entry in its route, if
// it has a route.
bool RouteEnds::on_arrival(std::uint32_t link, PacketIndex index) {
  if (world_.pool[index].kind == PacketKind::kStray) {
    engine_.record(link, index, PacketFate::kStray);
    ++world_.links[link].stray_packets;
    world_.pool.free(index);
    return true;
  }
  if (world_.ports[link].has(Port::kPeerIsHost) || world_.pool[index].is_sprayed()) return false;
  const std::uint32_t next = world_.routes[world_.pool[index].position + 1];
  if (!is_route_end(next)) return false;
  engine_.record(link, index, next == kFloods ? PacketFate::kFlooded : PacketFate::kExpired);
  if (next == kFloods) {
    flood(link, index);
  } else {
    ++world_.links[link].expired_packets;
  }
  engine_.forget(index);
  return true;
}

// Each copy is charged to the ingress as a separate frame.
void RouteEnds::flood(std::uint32_t link, PacketIndex index) {
  std::uint32_t position = floods_.at(link);
  for (const std::uint32_t out : world_.switches[world_.switch_behind(link)].links) {
    if (out == reverse_of(link)) continue;
    const PacketIndex copy = world_.pool.allocate();
    Packet& stray = world_.pool[copy];
    stray.arrival = world_.pool[index].arrival;
    stray.position = position;
    stray.ingress = reverse_of(link);
    stray.qp = world_.pool[index].qp;
    stray.psn = world_.pool[index].psn & Packet::kNotEcnCapable;
    stray.frame_bytes = world_.pool[index].frame_bytes;
    stray.kind = PacketKind::kStray;
    stray.flags = static_cast<std::uint8_t>(world_.pool[index].flags & PacketFlags::kPriority);
    world_.ip_ids.set(copy, world_.ip_ids.of(index));
    ++position;
    engine_.send_stray(out, copy);
  }
}

}  // namespace simulator
