// The reference engine's faults of links and ends of routes.

#include <algorithm>

#include "protocol/fault.h"
#include "reference_engine/engine.h"

namespace simulator::reference {

// Injected faults of the eager engine.

struct Engine::Injection {
  Engine& engine;

  void operator()(const LinkCut& cut) const { engine.links_[cut.link].loss.cut(cut.start, cut.end); }

  void operator()(const Rerouting& rerouting) const { engine.reroute(rerouting.left_out); }

  void operator()(const PacketEvent& event) const {
    std::uint32_t link = 0;
    while (engine.links_[link].from != event.host) ++link;
    const auto number = static_cast<std::uint32_t>(engine.watches_.size());
    const bool is_delayed = event.action == PacketAction::kDelay;
    const std::uint32_t timer = is_delayed ? engine.add_timer(TimerKind::kPacketEvent, number) : 0;
    engine.watches_.push_back({PacketWatch(event), link, timer});
  }

  void operator()(const NicPause& pause) const { engine.pause_switch(pause.host, pause.is_pausing); }

  void operator()(const SlowReceiver& receiver) const {
    engine.pause_switch(receiver.host, false);
    engine.nodes_[receiver.host].receive_buffer = ReceiveBuffer(receiver);
    engine.nodes_[receiver.host].receive_timer = engine.add_timer(TimerKind::kReceive, receiver.host);
  }
};

void Engine::inject(const Fault& fault) {
  std::visit(Injection{*this}, fault);
}

void Engine::pause_switch(std::uint32_t host, bool is_pausing) {
  std::uint32_t number = 0;
  while (links_[number].from != host) ++number;
  if (!has_flow_control(links_[number].to)) return;
  const PriorityMask lossless = nodes_[links_[number].to].shared_buffer.pause().priorities;
  const PriorityMask wanted = is_pausing ? lossless : PriorityMask{0};
  if (links_[number].ingress.pausing == wanted) return;
  links_[number].ingress.pausing = wanted;
  tell_pauses(number);
}

bool Engine::is_received(std::uint32_t host, std::uint32_t frame_bytes) {
  Node& node = nodes_[host];
  if (!node.receive_buffer) return true;
  if (!node.receive_buffer->takes(now_, frame_bytes)) return false;
  if (!node.receive_buffer->must_pause()) return true;
  pause_switch(host, true);
  set_timer(node.receive_timer, node.receive_buffer->resumption(now_));
  return true;
}

void Engine::on_receive_timer(std::uint32_t host) {
  Node& node = nodes_[host];
  if (node.receive_buffer->may_resume(now_)) return pause_switch(host, false);
  set_timer(node.receive_timer, node.receive_buffer->resumption(now_));
}

void Engine::watch_pauses(std::uint32_t number) {
  Link& link = links_[number];
  if (nodes_[link.from].is_host || !nodes_[link.to].is_host) return;
  const PauseConfiguration& rule = nodes_[link.from].shared_buffer.pause();
  if (rule.watchdog_after == kNever) return;
  const Picoseconds next =
      link.pauses.next_check(link.blocked, rule.watchdog_after, rule.watchdog_restore, now_);
  if (next != kNever) set_timer(link.watchdog_timer, next);
}

void Engine::on_watchdog_timer(std::uint32_t number) {
  Link& link = links_[number];
  const PauseConfiguration& rule = nodes_[link.from].shared_buffer.pause();
  for (std::uint32_t priority = kPriorities; priority-- > 0;) {
    if (has_priority(link.blocked, priority)) {
      if (link.pauses.has_been_free(priority, rule.watchdog_restore, now_))
        link.blocked &= static_cast<PriorityMask>(~mask_of(priority));
    } else if (has_priority(rule.priorities, priority) &&
               link.pauses.has_been_paused(priority, rule.watchdog_after, now_)) {
      link.blocked |= mask_of(priority);
      ++link.watchdog_fired;
      empty_queue(number, priority);
    }
  }
  watch_pauses(number);
}

void Engine::empty_queue(std::uint32_t number, std::uint32_t priority) {
  Queue& queue = links_[number].queues[priority];
  while (!queue.waiting.empty()) {
    const Packet packet = take(links_[number], queue);
    if (links_[number].turns && queue.waiting.empty()) links_[number].turns->on_empty(priority);
    ++queue.drops;
    --packets_;
    record(number, packet, PacketFate::kWatchdog);
    release(links_[number].from, packet);
  }
}

// Events of single packets, in the eager engine.

bool Engine::has_event(std::uint32_t number) const {
  return std::any_of(watches_.begin(), watches_.end(),
                     [&](const Watch& watch) { return watch.link == number; });
}

PacketIdentity Engine::identify(const Packet& packet) const {
  PacketRecord record;
  describe(packet, record);
  const bool is_negative = (record.flags & PacketRecord::kNegative) != 0;
  const bool says_next = packet.kind == PacketKind::kAcknowledgement && !is_negative;
  return {record.source, class_of(packet.kind, is_negative), record.number - (says_next ? 1 : 0)};
}

void Engine::apply_events(std::uint32_t number, Packet packet) {
  const PacketIdentity identity = identify(packet);
  PacketTreatment treatment;
  for (std::size_t each = 0; each < watches_.size(); ++each) {
    if (watches_[each].link == number && watches_[each].packet.strikes(identity, now_))
      treatment.add(each, watches_[each].packet.event());
  }
  packet.is_marked |= treatment.is_marked;
  packet.is_corrupt |= treatment.is_corrupt;
  if (treatment.is_dropped) {
    ++links_[number].lost_packets;
    links_[number].received_bytes -= packet.frame_bytes;
    --packets_;
    return record(number, packet, PacketFate::kEvent);
  }
  record(number, packet, PacketFate::kArrived);
  packets_ += treatment.copies;
  packets_max_ = std::max(packets_max_, packets_);
  if (treatment.holder) {
    Watch& watch = watches_[*treatment.holder];
    watch.held = packet;
    const PacketEvent& event = watch.packet.event();
    if (event.action == PacketAction::kDelay) set_timer(watch.timer, now_ + event.delay);
  } else {
    pass_on(number, packet);
  }
  for (std::uint32_t copy = 0; copy < treatment.copies; ++copy) pass_on(number, packet);
  if (treatment.holder) return;
  for (Watch& watch : watches_) {
    if (!watch.held || watch.link != number || !watch.packet.is_of_flow(identity)) continue;
    if (watch.packet.event().action == PacketAction::kReorder && watch.packet.is_overtaken())
      release_held(watch);
  }
}

void Engine::release_held(Watch& watch) {
  const Packet packet = *watch.held;
  watch.held.reset();
  pass_on(watch.link, packet);
}

std::vector<Picoseconds> Engine::packet_event_times() const {
  std::vector<Picoseconds> times;
  for (const Watch& watch : watches_) times.push_back(watch.packet.struck());
  return times;
}

// The ends of routes that lead to no host, in the eager engine.

void Engine::prepare_end(const std::vector<std::uint32_t>& route) {
  if (!is_route_end(route.back())) return;
  const std::uint32_t link = route[route.size() - 2];
  links_[link].has_route_end = true;
  if (route.back() != kFloods) return;
  for (const std::uint32_t out : flooded_ports(link)) links_[out].has_route_end = true;
}

std::vector<std::uint32_t> Engine::flooded_ports(std::uint32_t link) const {
  std::vector<std::uint32_t> ports;
  for (std::uint32_t out = 0; out < links_.size(); ++out) {
    if (links_[out].from == links_[link].to && out != reverse_of(link)) ports.push_back(out);
  }
  return ports;
}

void Engine::end_route(std::uint32_t link, const Packet& packet, std::uint32_t end) {
  --packets_;
  if (end == kExpires) {
    ++links_[link].expired_packets;
    return;
  }
  for (const std::uint32_t out : flooded_ports(link)) {
    Packet copy = packet;
    copy.kind = PacketKind::kStray;
    copy.hop = 1;
    copy.stray_route = static_cast<std::uint32_t>(
        std::find(stray_routes_.begin(), stray_routes_.end(), std::vector{link, out}) -
        stray_routes_.begin());
    if (copy.stray_route == stray_routes_.size()) stray_routes_.push_back({link, out});
    packets_max_ = std::max(packets_max_, ++packets_);
    enqueue(out, copy);
  }
}

}  // namespace simulator::reference
