// The reference engine's packets: queues, pauses, spraying, and ports that wait.

#include <algorithm>
#include <deque>
#include <string>

#include "protocol/path_hash.h"
#include "protocol/queue_pair.h"
#include "reference_engine/engine.h"

namespace simulator::reference {

// Recorded packets of the eager engine.

void Engine::record(std::uint32_t number, const Packet& packet, PacketFate fate) {
  if (!recorder_.packets.has_link(number)) return;
  PacketRecord record{.at = now_, .link = number, .kind = packet.kind, .frame_bytes = packet.frame_bytes};
  record.fate = fate;
  if (!is_refusal(fate)) {
    const LinkConfiguration& link = links_[number].configuration;
    const Bytes wire = framing_.wire_bytes(packet.frame_bytes);
    record.at = now_ - link.delay - duration_of(wire, picoseconds_per_byte(link.rate));
  }
  describe(packet, record);
  recorder_.packets.add(record);
}

void Engine::describe(const Packet& packet, PacketRecord& record) const {
  if (packet.kind == PacketKind::kPause) return record.take(packet.pause_frame);
  record.priority = packet.priority;
  if (packet.kind == PacketKind::kStray) return;
  if (packet.is_marked) record.flags |= PacketRecord::kMarked;
  if (packet.is_corrupt) record.flags |= PacketRecord::kCorrupt;
  if (packet.kind == PacketKind::kDatagram) {
    record.source = datagram_queue_pair_number(packet.datagram->source);
    record.destination = datagram_queue_pair_number(packet.datagram->destination);
    record.payload = payload_of(packet);
    return;
  }
  record.destination = queue_pair_number(queue_pairs_[packet.from].peer);
  if (packet.kind == PacketKind::kFeedback) return;
  record.source = queue_pair_number(packet.from);
  if (packet.kind == PacketKind::kData) return record.take(packet.data);
  if (packet.kind == PacketKind::kAcknowledgement) return record.take(*packet.acknowledgement);
  record.number = packet_psn(packet.psn);
  if (packet.kind == PacketKind::kCnp) return;
  record.take(packet.kind, packet.flags, payload_of(packet), packet.details);
}

// Priority flow control of the eager engine.

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

// `number` is the link whose sending end is paused.
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
  if (!own.markings.empty() || own.aqm) {
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

// Ways of the eager engine: a packet gets its whole route when it leaves its NIC. A sprayed one gets the rest of
// it anew at switches that choose, or once there was a rerouting.

void Engine::add_spray(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  const RandomStream stream(seed_, "spray:" + std::to_string(queue_pair_number(qp)));
  queue_pairs_[qp].spray.emplace(stream, configuration.spray_paths);
  if (!queue_pairs_[qp].reliability) return;
  queue_pairs_[qp].reliability->requester->use_paths(stream, configuration.spray_paths);
  queue_pairs_[qp].reliability->responder->use_paths(stream, configuration.spray_paths);
}

std::uint32_t Engine::next_path(std::uint32_t qp) {
  QueuePair& sender = queue_pairs_[qp];
  const bool chooses = sender.reliability && sender.reliability->requester->chooses_paths();
  return chooses ? sender.reliability->requester->next_path() : sender.spray->next();
}

// By node, -1 from where there is no way; hosts do not forward.
const std::vector<std::int64_t>& Engine::hops_to(std::uint32_t host, bool over_all) {
  std::vector<std::int64_t>& hops = hops_to_[{host, over_all}];
  if (!hops.empty()) return hops;
  hops.resize(nodes_.size(), -1);
  std::deque<std::uint32_t> reached{host};
  hops[host] = 0;
  for (; !reached.empty(); reached.pop_front()) {
    const std::uint32_t node = reached.front();
    if (nodes_[node].is_host && node != host) continue;
    for (std::uint32_t number = 0; number < links_.size(); ++number) {
      const Link& link = links_[number];
      if (link.to != node || hops[link.from] >= 0 || (!over_all && is_excluded(number))) continue;
      hops[link.from] = hops[node] + 1;
      reached.push_back(link.from);
    }
  }
  return hops;
}

// Packets that leave from now on go the new ways; sprayed ones go them from the next switch on.
void Engine::reroute(const std::vector<std::uint32_t>& left_out) {
  has_rerouted_ = true;
  hops_to_.clear();
  excluded_.clear();
  for (const std::uint32_t link : left_out) excluded_.insert(link / 2);
  for (QueuePair& sender : queue_pairs_) {
    sender.route = std::make_shared<const std::vector<std::uint32_t>>(
        find_route(sender.node, queue_pairs_[sender.peer].node, sender.path_seed));
  }
}

// At the switch that a packet has come to; beyond it the packet goes the way of its entropy.
void Engine::turn_to(std::uint32_t next, Packet& packet) {
  std::vector<std::uint32_t> route(packet.route->begin(), packet.route->begin() + packet.hop);
  route.push_back(next);
  const auto rest = way_from(links_[next].to, packet.from, packet.data.entropy);
  route.insert(route.end(), rest.begin(), rest.end());
  packet.route = std::make_shared<const std::vector<std::uint32_t>>(std::move(route));
}

void Engine::spray(Packet& packet, std::uint32_t path) {
  packet.is_sprayed = true;
  packet.data.entropy = static_cast<std::uint16_t>(path);
  packet.route = std::make_shared<const std::vector<std::uint32_t>>(
      way_from(queue_pairs_[packet.from].node, packet.from, path));
}

// From a node to the destination of a queue pair's packets.
std::vector<std::uint32_t> Engine::way_from(std::uint32_t node, std::uint32_t qp, std::uint32_t path) {
  const QueuePair& sender = queue_pairs_[qp];
  const std::uint32_t destination = queue_pairs_[sender.peer].node;
  return hashed_way(node, destination, PathHash(seed_, sender.node, destination), sender.path_seed ^ path);
}

std::vector<std::uint32_t> Engine::find_route(std::uint32_t source, std::uint32_t destination,
                                              std::uint64_t entropy) {
  if (hops_to(destination, true)[source] < 0) return {};
  return hashed_way(source, destination, PathHash(seed_, source, destination), entropy);
}

std::vector<std::uint32_t> Engine::hashed_way(std::uint32_t node, std::uint32_t destination,
                                              const PathHash& hash, std::uint64_t entropy) {
  std::vector<std::uint32_t> route;
  while (node != destination) {
    const std::vector<std::uint32_t> equal = equal_ports(node, destination);
    const auto count = static_cast<std::uint32_t>(equal.size());
    route.push_back(equal[hash.choice(entropy, node, count)]);
    node = links_[route.back()].to;
  }
  return route;
}

std::vector<std::uint32_t> Engine::equal_ports(std::uint32_t node, std::uint32_t destination) {
  const bool over_all = hops_to(destination, false)[node] < 0;
  const std::vector<std::int64_t>& hops = hops_to(destination, over_all);
  std::vector<std::uint32_t> equal;
  for (std::uint32_t link = 0; link < links_.size(); ++link) {
    if (links_[link].from != node || (!over_all && is_excluded(link))) continue;
    if (hops[links_[link].to] == hops[node] - 1) equal.push_back(link);
  }
  return equal;
}

// Waiting ports of the eager engine.

std::vector<Wait> Engine::waits() const {
  std::vector<Wait> waits;
  for (std::uint32_t number = 0; number < links_.size(); ++number) {
    const Link& link = links_[number];
    for (std::uint32_t priority = kPriorities; priority-- > 0;) {
      if (!link.pauses.is_paused(priority, now_)) continue;
      bool is_waiting = !link.queues[priority].waiting.empty();
      for (const std::uint32_t qp : nodes_[link.from].queue_pairs) {
        is_waiting |= queue_pairs_[qp].priority == priority && queue_pairs_[qp].has_packet();
      }
      if (is_waiting) waits.push_back({number, priority, ports_behind(number, priority)});
    }
  }
  return waits;
}

std::vector<std::uint32_t> Engine::ports_behind(std::uint32_t number, std::uint32_t priority) const {
  std::vector<std::uint32_t> behind;
  if (nodes_[links_[number].to].is_host) return behind;
  for (std::uint32_t next = 0; next < links_.size(); ++next) {
    if (links_[next].from != links_[number].to) continue;
    const std::deque<Packet>& waiting = links_[next].queues[priority].waiting;
    const auto came_over = [&](const Packet& packet) { return route_of(packet)[packet.hop - 1] == number; };
    if (std::any_of(waiting.begin(), waiting.end(), came_over)) behind.push_back(next);
  }
  return behind;
}

}  // namespace simulator::reference
