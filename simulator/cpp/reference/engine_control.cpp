// Marking, and congestion control in NICs, of the eager engine.
#include <algorithm>

#include "cc/registry.h"
#include "reference/engine.h"

namespace simulator::reference {

void Engine::mark(Link& link, Packet& packet) {
  Queue& queue = link.queues[packet.priority];
  if (!may_be_marked(packet.kind) || !link.marker->marks(packet.priority, queue.bytes)) return;
  packet.is_marked = true;
  ++queue.marks;
}

void Engine::add_control(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  QueuePair& queue_pair = queue_pairs_[qp];
  const BitsPerSecond line_rate = links_[queue_pair.route.front()].configuration.rate;
  queue_pair.controller =
      create_controller(configuration.control, configuration.control_parameters, line_rate);
  queue_pair.control_timer = add_timer(TimerKind::kControl, qp);
  queue_pair.notification_priority = configuration.notification_priority;
  priorities_ |= mask_of(configuration.notification_priority);
}

void Engine::on_marked(std::uint32_t qp) {
  QueuePair& receiver = queue_pairs_[qp];
  if (!receiver.controller || receiver.state != QueuePairState::kReadyToSend) return;
  if (now_ < receiver.next_notification) return;
  receiver.next_notification = now_ + receiver.controller->notification_gap();
  ++receiver.notifications_sent;
  Packet packet{PacketKind::kNotification, qp, 0, 0, framing_.notification_frame_bytes(), 0, {}};
  packet.priority = receiver.notification_priority;
  enqueue(receiver.route.front(), packet);
}

void Engine::on_notification(std::uint32_t qp) {
  ++queue_pairs_[qp].notifications_received;
  queue_pairs_[qp].controller->on_cnp(now_);
  follow_control(qp, false);
  watch_control(qp);
}

void Engine::on_control_timer(std::uint32_t qp) {
  Controller& controller = *queue_pairs_[qp].controller;
  if (controller.deadline() <= now_) {
    controller.on_timer(now_);
    follow_control(qp, false);
  }
  watch_control(qp);
}

void Engine::follow_control(std::uint32_t qp, bool is_departure) {
  QueuePair& queue_pair = queue_pairs_[qp];
  const BitsPerSecond line_rate = links_[queue_pair.route.front()].configuration.rate;
  BitsPerSecond rate = queue_pair.controller->rate();
  if (rate >= line_rate) rate = BitsPerSecond{};
  if (rate == queue_pair.control_rate) return;
  queue_pair.control_rate = rate;
  limiter_of(qp).set_rate(rate, Bytes{}, now_);
  if (is_departure) return;
  queue_pair.ready = std::max(queue_pair.ready, now_);
  send_if_possible(queue_pair.route.front());
}

void Engine::watch_control(std::uint32_t qp) {
  const QueuePair& queue_pair = queue_pairs_[qp];
  const Picoseconds deadline = queue_pair.controller->deadline();
  if (timers_[queue_pair.control_timer].deadline != deadline) set_timer(queue_pair.control_timer, deadline);
}

void Engine::require_uncontrolled(std::uint32_t qp, const char* what) const {
  if (!queue_pairs_[qp].controller) return;
  throw SimulationError(std::string(what) + ": the NIC controls the rate of " + queue_pair_name(qp));
}

}  // namespace simulator::reference
