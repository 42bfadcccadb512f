// Priority flow control of the eager engine.
#include <algorithm>

#include "reference/engine.h"

namespace simulator::reference {

// The queue whose first packet goes next; none if all are empty or paused.
Engine::Queue* Engine::next_queue(Link& link) {
  PriorityMask may_go = 0;
  for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
    if (link.queues[priority].waiting.empty() || link.pauses.is_paused(priority, now_)) continue;
    may_go |= mask_of(priority);
  }
  if (may_go == 0) return nullptr;
  if (!link.turns) return &link.queues[highest_of(may_go)];
  return &link.queues[link.turns->next(may_go, [&](std::uint32_t priority) {
    return std::int64_t{next_of(link, link.queues[priority])->frame_bytes};
  })];
}

bool Engine::admit(Link& link, const Packet& packet) {
  Node& element = nodes_[link.from];
  if (!has_shared_buffer(link.from)) {
    if (!admits(link, packet.frame_bytes)) return false;
    element.used += packet.frame_bytes;
    return true;
  }
  IngressAccount& account = ingress_of(packet);
  SharedBuffer& buffer = buffer_at(reverse_of(link_before(packet)));
  const std::uint32_t priority = packet.priority;
  const bool is_lossless = buffer.is_lossless(priority);
  const bool fits = is_lossless ? buffer.fits(account, priority, packet.frame_bytes)
                                : buffer.fits_lossy(link.queues[priority].bytes, packet.frame_bytes);
  if (fits) {
    buffer.charge(account, priority, packet.frame_bytes);
    return true;
  }
  if (!is_lossless) return false;
  if (!buffer.charge_headroom(account, priority, packet.frame_bytes)) {
    ++link.lossless_drops;
    return false;
  }
  pause(reverse_of(route_of(packet)[packet.hop - 1]), priority);
  return true;
}

void Engine::release(std::uint32_t element, const Packet& packet) {
  buffer_at(reverse_of(link_before(packet))).release(ingress_of(packet), packet.priority, packet.frame_bytes);
  for (std::uint32_t number = 0; number < links_.size(); ++number) {
    Link& link = links_[number];
    if (link.from != element) continue;
    const PriorityMask before = link.ingress.pausing;
    for_each_priority(before, [&](std::uint32_t priority) {
      if (!buffer_at(number).may_resume(link.ingress, priority)) return;
      link.ingress.pausing &= static_cast<PriorityMask>(~mask_of(priority));
    });
    if (link.ingress.pausing != before) tell_pauses(number);
  }
}

void Engine::pause(std::uint32_t number, std::uint32_t priority) {
  Link& link = links_[number];
  if (has_priority(link.ingress.pausing, priority)) return;
  link.ingress.pausing |= mask_of(priority);
  tell_pauses(number);
  const Picoseconds refresh_every = nodes_[link.from].shared_buffer.pause().refresh_every;
  if (refresh_every == kNever || timers_[link.refresh_timer].deadline != kNever) return;
  set_timer(link.refresh_timer, now_ + refresh_every);
}

void Engine::on_refresh_timer(std::uint32_t number) {
  const Link& link = links_[number];
  if (link.ingress.pausing == 0) return;
  tell_pauses(number);
  set_timer(link.refresh_timer, now_ + nodes_[link.from].shared_buffer.pause().refresh_every);
}

void Engine::tell_pauses(std::uint32_t number) {
  links_[number].is_pause_frame_due = true;
  send_if_possible(number);
}

void Engine::send_pause_frame(std::uint32_t number) {
  Link& link = links_[number];
  link.is_pause_frame_due = false;
  ++link.pause_frames;
  const Node& owner = nodes_[nodes_[link.from].is_host ? link.to : link.from];
  Packet packet{PacketKind::kPause, 0, 0, 0, PauseFrame::kFrameBytes, 0, {}};
  packet.pause_frame = {owner.shared_buffer.pause().priorities, link.ingress.pausing};
  start(number, packet);
}

// `number` is the link whose sending end is told.
void Engine::on_pause_frame(std::uint32_t number, const PauseFrame& frame) {
  Link& link = links_[number];
  const Picoseconds duration =
      nodes_[link.to].is_host ? kNever : nodes_[link.to].shared_buffer.pause().duration;
  const Picoseconds until = duration == kNever ? kNever : now_ + duration;
  link.pauses.on_frame(frame, now_, until, number, recorder_.pauses);
  if (until != kNever) events_.push({until, EventKind::kDeparture, number, number, 1, {}});
  send_if_possible(number);
  watch_pauses(number);
}

void Engine::add_open_pauses(PauseState::Records& records) const {
  for (std::uint32_t number = 0; number < links_.size(); ++number) {
    links_[number].pauses.add_open(now_, number, records);
  }
}

void Engine::add_class_counters(std::uint32_t number, std::vector<Counter>& result) const {
  const Link& link = links_[number];
  const auto add = [&](const char* name, std::int64_t value) { result.push_back({number, 0, name, value}); };
  const SwitchConfiguration& own = nodes_[link.from].configuration;
  if (!own.markings.empty() || own.judge) {
    std::int64_t marks = 0;
    for (const Queue& queue : link.queues) marks += queue.marks;
    add("marked_packets", marks);
  }
  if (link.trimming) {
    add("trimmed_packets", link.trimmed_packets);
    add("trimmed_bytes", link.trimmed_bytes);
  }
  if (!has_flow_control(link.from)) return;
  add("pause_frames", link.pause_frames);
  add("lossless_drops", link.lossless_drops);
  add("watchdog_fired", link.watchdog_fired);
  add("headroom_used_max_bytes", link.ingress.headroom_used_max);
}

}  // namespace simulator::reference
