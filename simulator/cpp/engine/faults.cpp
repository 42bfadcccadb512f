// What goes wrong on purpose, and watchdogs that end some of it.
#include "engine/faults.h"

#include "engine/departures.h"

namespace simulator {

struct Faults::Injection {
  Faults& faults;

  void operator()(const LinkCut& cut) const {
    faults.engine_.require_nobody_ahead("cut_link", cut.start);
    faults.world_.links[cut.link].loss.cut(cut.start, cut.end);
    faults.world_.ports[cut.link].flags |= Port::kLossy;
  }

  void operator()(const Rerouting& rerouting) const { faults.engine_.reroute(rerouting.left_out); }

  void operator()(const NicPause& pause) const { faults.pause_switch(pause.host, pause.is_pausing); }

  void operator()(const SlowReceiver& receiver) const {
    faults.pause_switch(receiver.host, false);  // which it must be able to
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
  if (link == kNoLink || !world_.has_flow_control(world_.links[link].to))
    throw SimulationError(world_.nodes[host].name +
                          ": its switch has no flow control, so it cannot pause it");
  PriorityMask& pausing = world_.ingresses[link].pausing;
  const PriorityMask wanted = is_pausing ? world_.lossless_beyond(link) : PriorityMask{0};
  if (pausing == wanted) return;
  // A pause frame that has left by now told what was so before.
  engine_.catch_up_classed(world_.ports[link], engine_.now_);
  pausing = wanted;
  engine_.tell_pauses(link, engine_.now_);
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
  const Picoseconds next = classes.pauses->next_look(classes.counters->shut, rule.watchdog_after,
                                                     rule.watchdog_restore, engine_.now_);
  if (next != kNever) engine_.set_timer(classes.counters->watchdog_timer, next);
}

void Faults::on_watchdog_timer(std::uint32_t link) {
  Port& port = world_.ports[link];
  ClassedPort& classes = world_.classes_of(port);
  const PauseConfiguration& rule = world_.switches[port.owner].shared_buffer.pause();
  engine_.catch_up_classed(port, engine_.now_);
  for_each_priority(classes.counters->shut, [&](std::uint32_t priority) {
    if (!classes.pauses->has_been_free(priority, rule.watchdog_restore, engine_.now_)) return;
    classes.counters->shut &= static_cast<PriorityMask>(~mask_of(priority));
  });
  for_each_priority(rule.priorities, [&](std::uint32_t priority) {
    if (has_priority(classes.counters->shut, priority)) return;
    if (!classes.pauses->has_been_paused(priority, rule.watchdog_after, engine_.now_)) return;
    classes.counters->shut |= mask_of(priority);
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

}  // namespace simulator
