// What switches tell senders: RoCC's fair rates, in messages of their own, and telemetry, in the packets.
#include <algorithm>

#include "engine/departures.h"

namespace simulator {

void Engine::watch_congestion(const ClassedPort& classes) {
  RoccPort& rocc = *classes.rocc;
  if (rocc.is_pending) return;
  rocc.is_pending = true;
  set_timer(rocc.timer, rocc.next_period(now_));
}

void Engine::on_congestion_timer(std::uint32_t link) {
  catch_up_link(link);
  const ClassedPort& classes = classes_[link];
  RoccPort& rocc = *classes.rocc;
  for_each_priority(priorities_, [&](std::uint32_t priority) {
    const BitsPerSecond rate = rocc.points[priority].update(classes.queues[priority].bytes);
    if (has_priority(classes.waiting, priority)) tell_sources(link, priority, rate);
  });
  rocc.is_pending = !rocc.is_at_rest();
  if (rocc.is_pending) timers_.set(rocc.timer, rocc.next_period(now_));
}

// To every flow that has packets in the queue, in the order of their numbers.
void Engine::tell_sources(std::uint32_t link, std::uint32_t priority, BitsPerSecond rate) {
  std::vector<std::uint32_t> sources;
  classes_[link].for_each_waiting(pool_, priority, [&](PacketIndex index) {
    const Packet& packet = pool_[index];
    if (!may_be_marked(packet.kind) || !senders_[packet.qp].wants_feedback) return;
    sources.push_back(senders_[packet.qp].peer);
  });
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  for (const std::uint32_t qp : sources) send_feedback(link, qp, rate);
}

// It goes back the way that the flow's packets came.
void Engine::send_feedback(std::uint32_t link, std::uint32_t qp, BitsPerSecond rate) {
  const ControlledQueuePair& controlled = controlled_[qp];
  std::uint32_t hop = 0;
  while (routes_[senders_[qp].route + hop] != link) ++hop;
  const PacketIndex index = pool_.allocate();
  Packet& packet = pool_[index];
  packet.position = controlled.feedback_route + controlled.route_links - hop;
  packet.ingress = link;
  packet.qp = qp;
  packet.psn = 0;
  packet.frame_bytes = Framing::kFeedbackFrameBytes;
  packet.kind = PacketKind::kFeedback;
  packet.flags = controlled.notification_flags;
  details_of(index) = {.length = {rate.value}, .left = {}, .immediate = link};
  if (counts_identifications_) {
    if (identifications_.size() <= index) identifications_.resize(pool_.peak());
    identifications_[index] = 0;
  }
  ++classes_[link].rocc->messages;
  enqueue_classed(routes_[packet.position], index);
}

void Engine::on_feedback(PacketIndex index) {
  const std::uint32_t qp = pool_[index].qp;
  const PacketDetails details = details_of(index);
  pool_.free(index);
  change_nic(senders_[qp].link, [&] {
    informed_controller(qp).on_feedback(now_, details.immediate, {details.length.value});
    return follow_control(qp, now_);
  });
  watch_control(qp);
}

// A packet has begun to leave a port of a switch.
void Engine::write_telemetry(const Port& port, PacketIndex index, Picoseconds start) {
  const Packet& packet = pool_[index];
  if (!may_be_marked(packet.kind) || !senders_[packet.qp].wants_telemetry) return;
  const Bytes behind = classes_of(port).queues[packet.priority()].bytes;
  telemetry_[index].add({start, behind, port.sent_bytes, speeds_[port.speed].rate});
}

CarriedTelemetry Engine::carried_telemetry(std::uint32_t qp, PacketIndex index) const {
  if (!senders_[qp].wants_telemetry) return std::nullopt;
  return telemetry_of(index);
}

void Engine::carry_telemetry(PacketIndex index, const Telemetry& telemetry) {
  if (telemetry_.size() <= index) telemetry_.resize(pool_.peak());
  telemetry_[index] = telemetry;
}

Telemetry Engine::telemetry_of(PacketIndex index) const {
  return index < telemetry_.size() ? telemetry_[index] : Telemetry{};
}

}  // namespace simulator
