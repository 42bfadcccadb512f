// Congestion control in NICs: the receiving end tells about marks, the sending end obeys its controller.
#include <utility>

#include "engine/departures.h"

namespace simulator {

// A marked packet has come: tells its sender, but not too often. Source: Zhu et al., "Congestion control for
// large-scale RDMA deployments", SIGCOMM 2015, section 3.1 (notification point).
void Engine::on_marked(PacketIndex index) {
  const std::uint32_t qp = pool_[index].qp;
  const Sender& receiver = senders_[qp];
  if (receiver.wants_answers && index < stamps_.size()) stamps_[index].is_marked = true;
  if (!receiver.is_controlled || !receiver.is_operational()) return;
  ControlledQueuePair& controlled = controlled_[qp];
  if (now_ < controlled.next_notification) return;
  const Picoseconds gap = controlled.controller->notification_gap();
  if (gap == kNever) return;
  controlled.next_notification = now_ + gap;
  ++controlled.notifications_sent;
  const PacketIndex notification = pool_.allocate();
  Packet& packet = pool_[notification];
  packet.position = receiver.route;
  packet.qp = receiver.peer;
  packet.psn = 0;
  packet.frame_bytes = static_cast<std::uint16_t>(framing_.notification_frame_bytes());
  packet.kind = PacketKind::kNotification;
  packet.flags = controlled.notification_flags;
  send_before_data(receiver.link, notification);
}

void Engine::on_notification(PacketIndex index) {
  const std::uint32_t qp = pool_[index].qp;
  pool_.free(index);
  ControlledQueuePair& controlled = controlled_[qp];
  ++controlled.notifications_received;
  change_nic(senders_[qp].link, [&] {
    informed_controller(qp).on_cnp(now_);
    return follow_control(qp, now_);
  });
  watch_control(qp);
}

void Engine::on_control_timer(std::uint32_t qp) {
  ControlledQueuePair& controlled = controlled_[qp];
  change_nic(senders_[qp].link, [&] {
    if (controlled.controller->deadline() > now_) return false;
    informed_controller(qp).on_timer(now_);
    return follow_control(qp, now_);
  });
  watch_control(qp);
}

// An answer: the controller knows before anything else leaves.
void Engine::on_controlled_reply(const Packet& packet, Stamp stamp, Telemetry telemetry) {
  const std::uint32_t qp = packet.qp;
  RcRequester& requester = senders_[qp].requester;
  change_nic(senders_[qp].link, [&] {
    const auto on_done = [&](const Verb& verb) { complete(qp, verb, VerbStatus::kSuccess); };
    const bool is_alive = packet.kind == PacketKind::kAck ? requester.on_ack(packet.psn, now_, on_done)
                                                          : requester.on_nak(packet.psn, now_, on_done);
    if (!is_alive) {
      fail(qp);
      return true;
    }
    informed_controller(qp).on_answer(now_, {stamp.sent, requester.unacknowledged_psn(), requester.sent_psn(),
                                             stamp.is_marked, {telemetry.records.data(), telemetry.hops}});
    follow_control(qp, now_);
    reconsider(qp);
    return true;
  });
  watch_control(qp);
}

// The controller, told of all that has left. Whoever changes it follows it then (`follow_control`); whoever
// does not says anew when it must be told (`set_untold_max`).
Controller& Engine::informed_controller(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  Controller& controller = *controlled_[qp].controller;
  if (sender.untold.value != 0) controller.on_sent(now_, sender.untold);
  sender.untold = Bytes{};
  return controller;
}

void Engine::set_untold_max(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  sender.untold_max = sender.wants_answers ? Bytes{} : controlled_[qp].controller->untold_max();
}

// A departure, perhaps booked late, that the controller must be told of: nobody else waits for this limiter.
void Engine::on_controlled_sent(std::uint32_t qp, PacketIndex index, Picoseconds start) {
  ControlledQueuePair& controlled = controlled_[qp];
  const Packet& packet = pool_[index];
  Sender& sender = senders_[qp];
  const bool has_new_rate = controlled.controller->on_sent(start, std::exchange(sender.untold, Bytes{}));
  set_untold_max(qp);
  if (sender.wants_answers) {
    if (stamps_.size() <= index) stamps_.resize(pool_.peak());
    stamps_[index] = {is_reply(packet.kind) ? kNever : start, false};
  }
  if (sender.wants_telemetry) {
    if (telemetry_.size() <= index) telemetry_.resize(pool_.peak());
    telemetry_[index].hops = 0;
  }
  if (!has_new_rate) [[likely]]
    return;
  const BitsPerSecond rate = controlled.limited_rate();
  if (rate == controlled.rate) return;
  controlled.rate = rate;
  limiters_[sender.limiter].set_rate(rate, Bytes{}, start);
}

// Gives the limiter the controller's rate, and the requester its window. Returns whether anything is new.
bool Engine::follow_control(std::uint32_t qp, Picoseconds at) {
  ControlledQueuePair& controlled = controlled_[qp];
  set_untold_max(qp);
  const bool has_new_window = follow_window(qp);
  const BitsPerSecond rate = controlled.limited_rate();
  if (rate == controlled.rate) return has_new_window;
  controlled.rate = rate;
  const Sender& sender = senders_[qp];
  limiters_[sender.limiter].set_rate(rate, Bytes{}, at);
  refresh_ready(nics_[sender.nic], sender.limiter, at);
  return true;
}

bool Engine::follow_window(std::uint32_t qp) {
  ControlledQueuePair& controlled = controlled_[qp];
  const Bytes window_bytes = controlled.controller->window();
  if (window_bytes == Controller::kNoWindow && controlled.window == kNoWindow) return false;
  RcRequester& requester = senders_[qp].requester;
  const std::uint64_t window = packets_in_window(window_bytes, requester.mtu_bytes());
  if (window == controlled.window || senders_[qp].is_unreliable) return false;
  controlled.window = window;
  if (senders_[qp].has_reliability) {
    reliabilities_[qp].requester->set_window(window);
    senders_[qp].has_special = reliabilities_[qp].requester->has_packet();
  } else {
    requester.set_window(window);
  }
  reconsider(qp);
  return true;
}

void Engine::watch_control(std::uint32_t qp) {
  const ControlledQueuePair& controlled = controlled_[qp];
  const Picoseconds deadline = controlled.controller->deadline();
  if (deadline == kNever) return timers_.cancel(controlled.timer);
  const bool is_first = deadline < timers_.next_instant();
  timers_.set(controlled.timer, deadline);
  if (is_first) set_timer_slot();
}

std::map<std::uint32_t, Metrics> Engine::control_metrics() {
  std::map<std::uint32_t, Metrics> metrics;
  for (std::uint32_t qp = 0; qp < controlled_.size(); ++qp) {
    if (!senders_[qp].is_controlled) continue;
    catch_up_link(senders_[qp].link);
    metrics[queue_pair_number(qp)] = informed_controller(qp).metrics(now_);
    set_untold_max(qp);
  }
  return metrics;
}

void Engine::require_uncontrolled(std::uint32_t qp, const char* what) const {
  if (!senders_[qp].is_controlled) return;
  throw SimulationError(std::string(what) + ": the NIC controls the rate of " + queue_pair_name(qp));
}

}  // namespace simulator
