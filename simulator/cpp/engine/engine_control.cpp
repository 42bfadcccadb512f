// Congestion control in NICs: the receiving end tells about marks, the sending end obeys its controller.
#include "engine/departures.h"

namespace simulator {

// A marked packet has come: tells its sender, but not too often. Source: Zhu et al., "Congestion control for
// large-scale RDMA deployments", SIGCOMM 2015, section 3.1 (notification point).
void Engine::on_marked(PacketIndex index) {
  const std::uint32_t qp = pool_[index].qp;
  const Sender& receiver = senders_[qp];
  if (!receiver.is_controlled || !receiver.is_operational()) return;
  ControlledQueuePair& controlled = controlled_[qp];
  if (now_ < controlled.next_notification) return;
  controlled.next_notification = now_ + controlled.controller->notification_gap();
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
    controlled.controller->on_cnp(now_);
    return follow_control(qp, now_);
  });
  watch_control(qp);
}

void Engine::on_control_timer(std::uint32_t qp) {
  ControlledQueuePair& controlled = controlled_[qp];
  change_nic(senders_[qp].link, [&] {
    if (controlled.controller->deadline() > now_) return false;
    controlled.controller->on_timer(now_);
    return follow_control(qp, now_);
  });
  watch_control(qp);
}

// A departure, perhaps booked late: nobody else waits for this limiter.
void Engine::on_controlled_sent(std::uint32_t qp, Picoseconds start, Bytes wire) {
  ControlledQueuePair& controlled = controlled_[qp];
  controlled.controller->on_sent(start, wire);
  const Sender& sender = senders_[qp];
  const BitsPerSecond rate = controlled.limited_rate();
  if (rate == controlled.rate) return;
  controlled.rate = rate;
  nics_[sender.nic].limiters[sender.limiter].set_rate(rate, Bytes{}, start);
}

// Gives the limiter the controller's rate. Returns whether it is a new one.
bool Engine::follow_control(std::uint32_t qp, Picoseconds at) {
  ControlledQueuePair& controlled = controlled_[qp];
  const BitsPerSecond rate = controlled.limited_rate();
  if (rate == controlled.rate) return false;
  controlled.rate = rate;
  const Sender& sender = senders_[qp];
  Nic& nic = nics_[sender.nic];
  nic.limiters[sender.limiter].set_rate(rate, Bytes{}, at);
  refresh_ready(nic, sender.limiter, at);
  return true;
}

void Engine::watch_control(std::uint32_t qp) {
  const ControlledQueuePair& controlled = controlled_[qp];
  const Picoseconds deadline = controlled.controller->deadline();
  if (deadline == kNever) return timers_.cancel(controlled.timer);
  timers_.set(controlled.timer, deadline);
  set_timer_slot();
}

void Engine::require_uncontrolled(std::uint32_t qp, const char* what) const {
  if (!senders_[qp].is_controlled) return;
  throw SimulationError(std::string(what) + ": the NIC controls the rate of " + queue_pair_name(qp));
}

}  // namespace simulator
