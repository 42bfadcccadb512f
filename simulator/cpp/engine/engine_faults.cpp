// What goes wrong around pauses: NICs that pause their switch, and watchdogs that end it.
#include "engine/departures.h"

namespace simulator {

// A NIC tells its switch to pause all priorities that lose nothing, or to go on.
void Engine::pause_switch(std::uint32_t host, bool is_pausing) {
  const std::uint32_t link = nics_[nodes_[host].index].link;
  if (link == kNoLink || !has_flow_control(links_[link].to))
    throw SimulationError(nodes_[host].name + ": its switch has no flow control, so it cannot pause it");
  PriorityMask& pausing = ingresses_[link].pausing;
  const PriorityMask wanted = is_pausing ? lossless_beyond(link) : PriorityMask{0};
  if (pausing == wanted) return;
  catch_up_classed(ports_[link], now_);  // a pause frame that has left by now told what was so before
  pausing = wanted;
  tell_pauses(link, now_);
}

PriorityMask Engine::lossless_beyond(std::uint32_t link) const {
  return switches_[nodes_[links_[link].to].index].pool.pause().priorities;
}

void Engine::receive_slowly(std::uint32_t host, const ReceiveConfiguration& configuration) {
  Nic& nic = nics_[nodes_[host].index];
  pause_switch(host, false);  // which it must be able to
  nic.receive_buffer = ReceiveBuffer(configuration);
  nic.receive_timer = timers_.create(TimerKind::kReceive, host);
  ports_[nic.link ^ 1].flags |= Port::kSlowlyReceived;
}

// A frame has come to a NIC that receives slowly. False if it is lost.
bool Engine::is_received(std::uint32_t link, PacketIndex index) {
  const std::uint32_t host = links_[link].to;
  Nic& nic = nics_[nodes_[host].index];
  if (!nic.receive_buffer->takes(now_, pool_[index].frame_bytes)) return false;
  if (!nic.receive_buffer->must_pause()) return true;
  pause_switch(host, true);
  set_timer(nic.receive_timer, nic.receive_buffer->resumption(now_));
  return true;
}

void Engine::on_receive_timer(std::uint32_t host) {
  Nic& nic = nics_[nodes_[host].index];
  if (nic.receive_buffer->may_resume(now_)) return pause_switch(host, false);
  timers_.set(nic.receive_timer, nic.receive_buffer->resumption(now_));
}

// The watchdog of a switch looks at its port to a host: when a pause has lasted too long, or has been over
// long enough.
void Engine::watch_pauses(std::uint32_t link) {
  const Port& port = ports_[link];
  if (port.has(Port::kOwnerIsHost) || !port.has(Port::kPeerIsHost)) return;
  const PauseConfiguration& rule = switches_[port.owner].pool.pause();
  if (rule.watchdog_after == kNever) return;
  ClassedPort& classes = classes_of(port);
  const Picoseconds next =
      classes.pauses->next_look(classes.shut, rule.watchdog_after, rule.watchdog_restore, now_);
  if (next != kNever) set_timer(classes.watchdog_timer, next);
}

void Engine::on_watchdog_timer(std::uint32_t link) {
  Port& port = ports_[link];
  ClassedPort& classes = classes_of(port);
  const PauseConfiguration& rule = switches_[port.owner].pool.pause();
  catch_up_classed(port, now_);
  for_each_priority(classes.shut, [&](std::uint32_t priority) {
    if (!classes.pauses->has_been_free(priority, rule.watchdog_restore, now_)) return;
    classes.shut &= static_cast<PriorityMask>(~mask_of(priority));
  });
  for_each_priority(rule.priorities, [&](std::uint32_t priority) {
    if (has_priority(classes.shut, priority)) return;
    if (!classes.pauses->has_been_paused(priority, rule.watchdog_after, now_)) return;
    classes.shut |= mask_of(priority);
    ++classes.counters->watchdog_fired;
    empty_queue(link, priority);
  });
  classes.inspect_arrivals();
  set_slot(link);
  watch_pauses(link);
}

void Engine::empty_queue(std::uint32_t link, std::uint32_t priority) {
  while (has_priority(classes_[link].waiting, priority)) {
    Port& port = ports_[link];
    const PacketIndex index = classes_of(port).pop(pool_, priority);
    release(port, index, now_);
    drop_classed(link, index);
  }
}

}  // namespace simulator
