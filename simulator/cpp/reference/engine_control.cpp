// Marking, and congestion control in NICs, of the eager engine.
#include <algorithm>

#include "cc/registry.h"
#include "protocol/queue_pair.h"
#include "reference/engine.h"

namespace simulator::reference {

void Engine::mark(Link& link, Packet& packet) {
  Queue& queue = link.queues[packet.priority];
  if (!may_be_marked(packet.kind) || !packet.data.is_ecn_capable) return;
  if (link.marker->marks(packet.priority, queue.bytes)) queue.mark(packet);
}

void Engine::add_control(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  QueuePair& queue_pair = queue_pairs_[qp];
  const BitsPerSecond line_rate = links_[queue_pair.route->front()].configuration.rate;
  const bool is_end_a = qp < queue_pair.peer;
  queue_pair.controller = controller_of(configuration, is_end_a, line_rate, framing_);
  queue_pair.control_timer = add_timer(TimerKind::kControl, qp);
  queue_pair.cnp_priority = configuration.cnp_priority;
  priorities_ |= mask_of(configuration.cnp_priority);
  limiter_of(qp).set_burst(queue_pair.controller->burst());
  follow_control(qp);
  watch_control(qp);
}

void Engine::on_marked(std::uint32_t qp) {
  QueuePair& receiver = queue_pairs_[qp];
  if (!receiver.controller || receiver.state != QueuePairState::kReadyToSend) return;
  if (now_ < receiver.next_cnp) return;
  const Picoseconds gap = receiver.controller->cnp_gap();
  if (gap == kNever) return;
  receiver.next_cnp = now_ + gap;
  ++receiver.cnps_sent;
  Packet packet{PacketKind::kCnp, qp, 0, 0, framing_.cnp_frame_bytes(), 0, {}};
  packet.priority = receiver.cnp_priority;
  enqueue(receiver.route->front(), packet);
}

void Engine::on_cnp(std::uint32_t qp) {
  ++queue_pairs_[qp].cnps_received;
  queue_pairs_[qp].controller->on_cnp(now_);
  follow_control(qp);
  send_if_possible(queue_pairs_[qp].route->front());
  watch_control(qp);
}

void Engine::tell_acknowledgement(std::uint32_t qp, const Packet& packet) {
  const QueuePair& sender = queue_pairs_[qp];
  if (packet.kind == PacketKind::kReadResponse || !sender.controller->wants_acknowledgements()) return;
  if (sender.reliability) {
    const Acknowledgement& acknowledgement = *packet.acknowledgement;
    const Requester& requester = *sender.reliability->requester;
    sender.controller->on_acknowledgement(
        now_, {acknowledgement.echoed, requester.acknowledged(), requester.sent(), requester.recoveries(),
               acknowledgement.echoes_mark, packet.hops});
  } else {
    const RcRequester& requester = sender.requester;
    sender.controller->on_acknowledgement(
        now_, {packet.sent, requester.unacknowledged_psn(), requester.sent_psn(), sender.recoveries,
               packet.acknowledges_marked, packet.hops});
  }
  follow_control(qp);
  watch_control(qp);
}

void Engine::on_control_timer(std::uint32_t qp) {
  Controller& controller = *queue_pairs_[qp].controller;
  if (controller.deadline() <= now_) {
    controller.on_timer(now_);
    follow_control(qp);
    send_if_possible(queue_pairs_[qp].route->front());
  }
  watch_control(qp);
}

// Window and rate are the controller's from now on.
void Engine::follow_control(std::uint32_t qp) {
  QueuePair& queue_pair = queue_pairs_[qp];
  const bool had_packet = queue_pair.has_packet();
  follow_window(queue_pair);
  const bool has_new_rate = follow_rate(qp);
  if (has_new_rate || (!had_packet && queue_pair.has_packet()))
    queue_pair.ready = std::max(queue_pair.ready, now_);
}

void Engine::follow_window(QueuePair& queue_pair) {
  if (queue_pair.is_unreliable) return;
  const std::uint64_t window =
      packets_in_window(queue_pair.controller->window(), queue_pair.requester.mtu_bytes());
  if (queue_pair.reliability) return queue_pair.reliability->requester->set_window(window);
  queue_pair.requester.set_window(window);
}

bool Engine::follow_rate(std::uint32_t qp) {
  QueuePair& queue_pair = queue_pairs_[qp];
  const BitsPerSecond line_rate = links_[queue_pair.route->front()].configuration.rate;
  BitsPerSecond rate = queue_pair.controller->rate();
  if (rate >= line_rate) rate = BitsPerSecond{};
  if (rate == queue_pair.control_rate) return false;
  queue_pair.control_rate = rate;
  limiter_of(qp).set_rate(rate, Bytes{}, now_);
  return true;
}

void Engine::watch_control(std::uint32_t qp) {
  const QueuePair& queue_pair = queue_pairs_[qp];
  const Picoseconds deadline = queue_pair.controller->deadline();
  if (timers_[queue_pair.control_timer].deadline != deadline) set_timer(queue_pair.control_timer, deadline);
}

std::map<std::uint32_t, Metrics> Engine::control_metrics() const {
  std::map<std::uint32_t, Metrics> metrics;
  for (std::uint32_t qp = 0; qp < queue_pairs_.size(); ++qp) {
    if (queue_pairs_[qp].controller)
      metrics[queue_pair_number(qp)] = metrics_of(*queue_pairs_[qp].controller, now_);
  }
  return metrics;
}

void Engine::require_uncontrolled(std::uint32_t qp, const char* what) const {
  if (!queue_pairs_[qp].controller) return;
  throw SimulationError(std::string(what) + ": the NIC controls the rate of " + queue_pair_name(qp));
}

}  // namespace simulator::reference
