// What switches tell senders: RoCC's fair rates, in messages of their own, and telemetry, in the packets.
#include "engine/feedback.h"

#include <algorithm>
#include <vector>

#include "engine/departures.h"

namespace simulator {

void Feedback::watch(const ClassedPort& classes) {
  RoccPort& rocc = *classes.rocc;
  if (rocc.is_pending) return;
  rocc.is_pending = true;
  engine_.set_timer(rocc.timer, rocc.next_period(engine_.now_));
}

void Feedback::on_timer(std::uint32_t link) {
  engine_.catch_up_link(link);
  const ClassedPort& classes = world_.classes[link];
  RoccPort& rocc = *classes.rocc;
  for_each_priority(world_.priorities, [&](std::uint32_t priority) {
    const BitsPerSecond rate = rocc.points[priority].update(classes.queues[priority].bytes);
    if (has_priority(classes.waiting, priority)) tell_sources(link, priority, rate);
  });
  rocc.is_pending = !rocc.is_at_rest();
  if (rocc.is_pending) engine_.timers_.set(rocc.timer, rocc.next_period(engine_.now_));
}

// To every flow that has packets in the queue, in the order of their numbers.
void Feedback::tell_sources(std::uint32_t link, std::uint32_t priority, BitsPerSecond rate) {
  std::vector<std::uint32_t> sources;
  world_.classes[link].for_each_waiting(world_.pool, priority, [&](PacketIndex index) {
    const Packet& packet = world_.pool[index];
    if (!may_be_marked(packet.kind) || !world_.senders[packet.qp].wants_feedback) return;
    sources.push_back(world_.senders[packet.qp].peer);
  });
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  for (const std::uint32_t qp : sources) send(link, qp, rate);
}

// The message goes back the way that the flow's packets came.
void Feedback::send(std::uint32_t link, std::uint32_t qp, BitsPerSecond rate) {
  const ControlledQueuePair& controlled = engine_.controls_.of(qp);
  std::uint32_t hop = 0;
  while (world_.routes[world_.senders[qp].route + hop] != link) ++hop;
  const PacketIndex index = world_.pool.allocate();
  Packet& packet = world_.pool[index];
  packet.arrival = engine_.now_;
  packet.position = controlled.feedback_route + controlled.route_links - hop;
  packet.ingress = link;
  packet.qp = qp;
  packet.psn = 0;
  packet.frame_bytes = Framing::kFeedbackFrameBytes;
  packet.kind = PacketKind::kFeedback;
  packet.flags = controlled.cnp_flags;
  fair_rates_[index] = {link, rate};
  world_.ip_ids.set(index, 0);
  ++world_.classes[link].rocc->messages;
  engine_.enqueue_classed(world_.routes[packet.position], index);
}

void Feedback::write_telemetry(const Port& port, PacketIndex index, Picoseconds start) {
  const Packet& packet = world_.pool[index];
  ClassedPort& classes = world_.classes_of(port);
  classes.counters->sent_on_wire += world_.framing.wire_bytes(packet.frame_bytes);
  if (!may_be_marked(packet.kind) || !world_.senders[packet.qp].wants_telemetry) return;
  const Bytes behind = classes.queues[packet.priority()].bytes;
  telemetry_[index].add({start, behind, classes.counters->sent_on_wire, world_.speeds[port.speed].rate});
}

CarriedTelemetry Feedback::carried_telemetry(std::uint32_t qp, PacketIndex index) {
  if (!world_.senders[qp].wants_telemetry) return std::nullopt;
  return telemetry_[index];
}

}  // namespace simulator
