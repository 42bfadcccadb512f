// What switches of the eager engine tell senders.
#include <set>

#include "reference/engine.h"

namespace simulator::reference {

void Engine::watch_congestion(Link& link) {
  if (link.rocc->is_pending) return;
  link.rocc->is_pending = true;
  set_timer(link.rocc->timer, link.rocc->next_period(now_));
}

void Engine::on_congestion_timer(std::uint32_t number) {
  RoccPort& rocc = *links_[number].rocc;
  for_each_priority(priorities_, [&](std::uint32_t priority) {
    const Queue& queue = links_[number].queues[priority];
    const BitsPerSecond rate = rocc.points[priority].update({queue.bytes});
    tell_sources(number, queue, rate);
  });
  rocc.is_pending = !rocc.is_at_rest();
  if (rocc.is_pending) set_timer(rocc.timer, rocc.next_period(now_));
}

void Engine::tell_sources(std::uint32_t number, const Queue& queue, BitsPerSecond rate) {
  std::set<std::uint32_t> sources;
  for (const Packet& packet : queue.waiting) {
    const QueuePair& source = queue_pairs_[packet.from];
    if (packet.datagram || !may_be_marked(packet.kind) || !source.controller) continue;
    if (source.controller->wants_feedback()) sources.insert(packet.from);
  }
  for (const std::uint32_t qp : sources) {
    const QueuePair& source = queue_pairs_[qp];
    Packet message{PacketKind::kFeedback, source.peer, 0, 0, Framing::kFeedbackFrameBytes, 0, {}};
    message.fair_rate = {number, rate};
    message.priority = source.cnp_priority;
    std::uint32_t hop = 0;
    while ((*source.route)[hop] != number) ++hop;
    message.hop = static_cast<std::uint32_t>(source.route->size()) - hop;
    packets_max_ = std::max(packets_max_, ++packets_);
    ++links_[number].rocc->messages;
    enqueue((*source.feedback_route)[message.hop], message);
  }
}

void Engine::on_feedback(std::uint32_t qp, const Packet& packet) {
  queue_pairs_[qp].controller->on_feedback(now_, packet.fair_rate.port, packet.fair_rate.rate);
  follow_control(qp);
  send_if_possible(queue_pairs_[qp].route->front());
  watch_control(qp);
}

void Engine::write_telemetry(const Link& link, Packet& packet) const {
  const Node& element = nodes_[link.from];
  if (element.is_host || !element.configuration.has_telemetry) return;
  if (packet.datagram || !may_be_marked(packet.kind) || packet.hops.size() == kHopsMax) return;
  const QueuePair& source = queue_pairs_[packet.from];
  if (!source.controller || !source.controller->wants_telemetry()) return;
  const Queue& queue = link.queues[packet.priority];
  const Bytes sent = link.sent_on_wire + framing_.wire_bytes(packet.frame_bytes);
  packet.hops.push_back({now_, {queue.bytes}, sent, link.configuration.rate});
}

}  // namespace simulator::reference
