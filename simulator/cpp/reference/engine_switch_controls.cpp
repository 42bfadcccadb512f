// Parts of switches from outside, in the eager engine.
#include <algorithm>

#include "protocol/queue_pair.h"
#include "reference/engine.h"

namespace simulator::reference {

std::shared_ptr<SwitchControl> Engine::judge_for(const Link& link) const {
  const Node &here = nodes_[link.from], &there = nodes_[link.to];
  if (here.is_host || !here.configuration.judge) return {};
  return here.configuration.judge(
      place_of_port(seed_, here.name, there.name, link.configuration.rate, there.is_host));
}

rogue::PacketSeen Engine::seen(const Packet& packet) const {
  const bool is_of_verb = packet.kind < PacketKind::kDatagram;
  return {.frame_bytes = packet.frame_bytes,
          .priority = packet.priority,
          .flow = is_of_verb ? queue_pair_number(queue_pairs_[packet.from].peer) : 0,
          .entropy = packet.is_sprayed ? packet.data.entropy : std::uint32_t{0},
          .is_data = carries_data(packet.kind),
          .can_be_marked = may_be_marked(packet.kind) && packet.data.is_ecn_capable,
          .is_marked = is_of_verb && packet.is_marked,
          .can_be_trimmed = packet.can_be_trimmed()};
}

std::int64_t Engine::waiting_bytes(const Link& link) {
  std::int64_t bytes = 0;
  for (const Queue& queue : link.queues) bytes += queue.bytes;
  return bytes;
}

rogue::Verdict Engine::judge_arrival(Link& link, Packet& packet) {
  if (!link.judge->sees_arrivals()) return rogue::Verdict::kTake;
  const rogue::Arrival arrival{.now_ps = now_.value,
                               .queue_bytes = link.queues[packet.priority].bytes,
                               .port_bytes = waiting_bytes(link),
                               .must_wait = link.is_busy || link.pauses.is_paused(packet.priority, now_),
                               .packet = seen(packet)};
  const rogue::Verdict verdict = link.judge->on_arrival(arrival);
  if (verdict == rogue::Verdict::kTrim) cut(link, packet);
  const bool is_mark = verdict == rogue::Verdict::kMark && arrival.packet.can_be_marked;
  return is_mark || verdict == rogue::Verdict::kDrop ? verdict : rogue::Verdict::kTake;
}

bool Engine::may_depart(Link& link, Packet& packet) {
  if (!link.judge->sees_departures()) return true;
  Queue& queue = link.queues[packet.priority];
  const rogue::Departure departure{.now_ps = now_.value,
                                   .waited_ps = (now_ - packet.queued).value,
                                   .queue_bytes = queue.bytes,
                                   .port_bytes = waiting_bytes(link),
                                   .packet = seen(packet)};
  const rogue::Verdict verdict = link.judge->on_departure(departure);
  if (verdict == rogue::Verdict::kMark && departure.packet.can_be_marked) queue.mark(packet);
  return verdict != rogue::Verdict::kDrop;
}

void Engine::refuse(Link& link, std::uint32_t number, const Packet& packet, PacketFate fate) {
  ++link.queues[link.has_classes ? packet.priority : 0].drops;
  --packets_;
  record(number, packet, fate);
}

// The rest of a packet's way, from the switch at the end of a link on.
void Engine::choose(std::uint32_t number, Packet& packet) {
  const std::uint32_t node = links_[number].to;
  const std::uint32_t next = (*packet.route)[packet.hop];
  const std::uint32_t destination = queue_pairs_[queue_pairs_[packet.from].peer].node;
  const std::vector<std::uint32_t> ports = equal_ports(node, destination);
  if (ports.size() == 1) return;
  SwitchControl& chooser = *nodes_[node].chooser;
  std::vector<rogue::EqualPort> equal;
  for (const std::uint32_t port : ports) {
    const Link& link = links_[port];
    const bool tells = chooser.wants_queues();
    equal.push_back({.rate_bps = link.configuration.rate.value,
                     .queue_bytes = tells ? waiting_bytes(link) : 0,
                     .sent_bytes = tells ? link.sent_bytes : 0,
                     .number = port,
                     .is_sending = tells && link.is_busy});
  }
  const auto hashed = static_cast<std::uint32_t>(std::find(ports.begin(), ports.end(), next) - ports.begin());
  const std::uint32_t chosen = ports[chooser.choose({.now_ps = now_.value,
                                                     .ports = equal.data(),
                                                     .port_count = static_cast<std::uint32_t>(equal.size()),
                                                     .hashed = hashed,
                                                     .packet = seen(packet)})];
  turn_to(chosen, packet);
}

}  // namespace simulator::reference
