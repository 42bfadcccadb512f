// NicControls: congestion controls of queue pairs. Feedback: telemetry and RoCC rates of switch ports.

#include "engine/controls.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cc/registry.h"
#include "engine/departures.h"

namespace simulator {

// The queue pair must have a limiter of its own; from now on the control sets it.
void NicControls::add(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  Sender& sender = world_.senders[qp];
  const BitsPerSecond line_rate = world_.speeds[world_.ports[sender.link].speed].rate;
  const bool is_end_a = qp < sender.peer;
  queue_pairs_.resize(world_.senders.size());
  queue_pairs_[qp] = {
      .controller = controller_of(configuration, is_end_a, line_rate, world_.framing),
      .timer = engine_.timers_.create(TimerKind::kControl, qp),
      .cnp_flags = static_cast<std::uint8_t>(configuration.cnp_priority << PacketFlags::kPriorityShift),
      .line_rate = line_rate,
      .rate = {},
      .next_cnp = {}};
  sender.is_controlled = true;
  world_.limiters[sender.limiter].set_burst(queue_pairs_[qp].controller->burst());
  sender.wants_acknowledgements = queue_pairs_[qp].controller->wants_acknowledgements();
  sender.wants_telemetry = queue_pairs_[qp].controller->wants_telemetry();
  sender.wants_feedback = queue_pairs_[qp].controller->wants_feedback();
  apply_decision(qp, engine_.now_);
  update_timer(qp);
  world_.priorities |= mask_of(configuration.cnp_priority);
}

// For feedback from switches.
void NicControls::add_feedback_route(std::uint32_t qp, const std::vector<std::uint32_t>& route) {
  if (!world_.senders[qp].wants_feedback) return;
  queue_pairs_[qp].feedback_route = static_cast<std::uint32_t>(world_.routes.size());
  queue_pairs_[qp].route_links = static_cast<std::uint32_t>(route.size());
  std::transform(route.rbegin(), route.rend(), std::back_inserter(world_.routes),
                 [](std::uint32_t link) { return reverse_of(link); });
}

void NicControls::on_marked(PacketIndex index) {
  const std::uint32_t qp = world_.pool[index].qp;
  if (world_.senders[qp].wants_acknowledgements) stamps_[index].is_marked = true;
  send_cnp(qp);
}

// Source: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3.1 (notification
// point).
void NicControls::send_cnp(std::uint32_t qp) {
  const Sender& receiver = world_.senders[qp];
  if (!receiver.is_controlled || !receiver.is_operational()) return;
  ControlledQueuePair& controlled = queue_pairs_[qp];
  Picoseconds& next = next_cnp(qp);
  if (engine_.now_ < next) return;
  const NicProfile& profile = world_.nics[receiver.nic].profile;
  const Picoseconds gap = controlled.controller->cnp_gap();
  if (gap == kNever) return;
  next = engine_.now_ + (profile.cnp_interval == kNever ? gap : profile.cnp_interval);
  ++controlled.cnps_sent;
  const PacketIndex cnp = world_.pool.allocate();
  Packet& packet = world_.pool[cnp];
  packet.position = receiver.route;
  packet.qp = receiver.peer;
  packet.psn = 0;
  packet.frame_bytes = static_cast<std::uint16_t>(world_.framing.cnp_frame_bytes());
  packet.kind = PacketKind::kCnp;
  packet.flags = controlled.cnp_flags;
  engine_.send_later(receiver.link, cnp, profile.cnp_delay);
}

// Before when no CNP may be sent: of a queue pair, or of all that share its interval.
Picoseconds& NicControls::next_cnp(std::uint32_t qp) {
  const Sender& receiver = world_.senders[qp];
  switch (world_.nics[receiver.nic].profile.cnp_scope) {
    case CnpScope::kAddress:
      return next_cnps_[{receiver.nic, world_.senders[receiver.peer].nic}];
    case CnpScope::kPort:
      return next_cnps_[{receiver.nic, receiver.nic}];
    case CnpScope::kQueuePair:
      break;
  }
  return queue_pairs_[qp].next_cnp;
}

void NicControls::on_cnp(PacketIndex index) {
  const std::uint32_t qp = world_.pool[index].qp;
  world_.pool.free(index);
  ControlledQueuePair& controlled = queue_pairs_[qp];
  ++controlled.cnps_received;
  engine_.change_nic(world_.senders[qp].link, [&] {
    up_to_date_controller(qp).on_cnp(engine_.now_);
    return apply_decision(qp, engine_.now_);
  });
  update_timer(qp);
}

void NicControls::on_timer(std::uint32_t qp) {
  ControlledQueuePair& controlled = queue_pairs_[qp];
  engine_.change_nic(world_.senders[qp].link, [&] {
    if (controlled.controller->deadline() > engine_.now_) return false;
    up_to_date_controller(qp).on_timer(engine_.now_);
    return apply_decision(qp, engine_.now_);
  });
  update_timer(qp);
}

// What Engine::on_reply() hands on if the control wants acknowledgements: the requester takes the ACK or NAK, and
// the controller knows before anything else leaves.
void NicControls::on_reply_to_controlled(const Packet& packet, PacketIndex index) {
  const std::uint32_t qp = packet.qp;
  const Stamp stamp = stamps_[index];
  const CarriedTelemetry telemetry = engine_.feedback_.carried_telemetry(qp, index);
  RcRequester& requester = world_.senders[qp].requester;
  engine_.change_nic(world_.senders[qp].link, [&] {
    const auto on_done = [&](const Verb& verb) { engine_.complete(qp, verb, VerbStatus::kSuccess); };
    const std::uint64_t naks = requester.counters().naks;
    const std::uint64_t next_psn = requester.next_psn();
    const bool is_ack = packet.kind == PacketKind::kAck;
    const bool is_alive = is_ack ? requester.on_ack(packet.psn, engine_.now_, on_done)
                                 : requester.on_nak(packet.psn, engine_.now_, on_done);
    if (!is_alive) {
      engine_.fail(qp);
      return true;
    }
    const std::uint64_t acknowledged_psn = requester.unacknowledged_psn();
    // A gap in READ responses, which an ACK may show, is the other end's loss, so only NAKs count.
    std::uint64_t& recoveries = queue_pairs_[qp].recoveries;
    if (!is_ack) recoveries += requester.counters().naks - naks;
    up_to_date_controller(qp).on_acknowledgement(
        engine_.now_, {stamp.sent, acknowledged_psn, requester.sent_psn(), recoveries, stamp.is_marked,
                       hops_of(telemetry)});
    apply_decision(qp, engine_.now_);
    engine_.reconsider(qp);
    if (requester.next_psn() < next_psn) engine_.hold_back_resent(qp);
    return true;
  });
  update_timer(qp);
}

// The controller, after all departed bytes have been reported to it. A caller that changes the controller
// calls `apply_decision` afterwards. Any other caller calls `set_unreported_max`, because the bytes that may leave
// unreported are counted from now on.
Controller& NicControls::up_to_date_controller(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  Controller& controller = *queue_pairs_[qp].controller;
  if (sender.unreported.value != 0) controller.on_sent(engine_.now_, sender.unreported);
  sender.unreported = Bytes{};
  return controller;
}

void NicControls::set_unreported_max(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  sender.unreported_max =
      sender.wants_acknowledgements ? Bytes{} : queue_pairs_[qp].controller->unreported_max();
}

// Report a departure, perhaps booked late, to the controller. A new rate needs no refresh_ready(): no other
// queue pair uses the limiter, and the caller schedules this one anew.
void NicControls::on_sent(std::uint32_t qp, PacketIndex index, Picoseconds start) {
  ControlledQueuePair& controlled = queue_pairs_[qp];
  const Packet& packet = world_.pool[index];
  Sender& sender = world_.senders[qp];
  const bool has_new_rate = controlled.controller->on_sent(start, std::exchange(sender.unreported, Bytes{}));
  set_unreported_max(qp);
  if (sender.wants_acknowledgements) stamps_[index] = {is_reply(packet.kind) ? kNever : start, false};
  if (sender.wants_telemetry) engine_.feedback_.open_telemetry(index);
  if (!has_new_rate) [[likely]]
    return;
  const BitsPerSecond rate = controlled.limited_rate();
  if (rate == controlled.rate) return;
  controlled.rate = rate;
  world_.limiters[sender.limiter].set_rate(rate, Bytes{}, start);
}

// Gives the limiter the controller's rate, and the requester its window. Returns whether anything is new.
bool NicControls::apply_decision(std::uint32_t qp, Picoseconds at) {
  ControlledQueuePair& controlled = queue_pairs_[qp];
  set_unreported_max(qp);
  const bool has_new_window = apply_window(qp);
  const BitsPerSecond rate = controlled.limited_rate();
  if (rate == controlled.rate) return has_new_window;
  controlled.rate = rate;
  const Sender& sender = world_.senders[qp];
  world_.limiters[sender.limiter].set_rate(rate, Bytes{}, at);
  engine_.refresh_ready(world_.nics[sender.nic], sender.limiter, at);
  return true;
}

bool NicControls::apply_window(std::uint32_t qp) {
  ControlledQueuePair& controlled = queue_pairs_[qp];
  const Bytes window_bytes = controlled.controller->window();
  if (window_bytes == Controller::kNoWindow && controlled.window == kNoWindow) return false;
  RcRequester& requester = world_.senders[qp].requester;
  const std::uint64_t window = packets_in_window(window_bytes, requester.mtu_bytes());
  if (window == controlled.window || world_.senders[qp].is_unreliable) return false;
  controlled.window = window;
  if (world_.senders[qp].has_reliability) {
    world_.reliabilities[qp].requester->set_window(window);
    world_.senders[qp].has_special = world_.reliabilities[qp].requester->has_packet();
  } else {
    requester.set_window(window);
  }
  engine_.reconsider(qp);
  return true;
}

void NicControls::update_timer(std::uint32_t qp) {
  const ControlledQueuePair& controlled = queue_pairs_[qp];
  const Picoseconds deadline = controlled.controller->deadline();
  if (deadline == kNever) return engine_.timers_.cancel(controlled.timer);
  const bool is_first = deadline < engine_.timers_.next_instant();
  engine_.timers_.set(controlled.timer, deadline);
  if (is_first) engine_.set_timer_slot();
}

std::map<std::uint32_t, Metrics> NicControls::metrics() {
  std::map<std::uint32_t, Metrics> metrics;
  for (std::uint32_t qp = 0; qp < queue_pairs_.size(); ++qp) {
    if (!has(qp)) continue;
    engine_.catch_up_link(world_.senders[qp].link);
    metrics[queue_pair_number(qp)] = metrics_of(up_to_date_controller(qp), engine_.now_);
    set_unreported_max(qp);
  }
  return metrics;
}

void NicControls::require_none(std::uint32_t qp, const char* what) const {
  if (!has(qp)) return;
  throw SimulationError(std::string(what) + ": the NIC controls the rate of " + queue_pair_name(qp));
}

void NicControls::require_none_uses(std::uint32_t limiter, const char* what) const {
  for (std::uint32_t qp = 0; qp < queue_pairs_.size(); ++qp) {
    if (world_.senders[qp].limiter == limiter) require_none(qp, what);
  }
}

// After a loss-recovery requester has handled an acknowledgement: the controller sees it before anything
// else leaves.
void NicControls::on_acknowledgement(std::uint32_t qp, const Acknowledgement& acknowledgement,
                                     const CarriedTelemetry& telemetry) {
  const Requester& requester = *world_.reliabilities[qp].requester;
  up_to_date_controller(qp).on_acknowledgement(
      engine_.now_, {acknowledgement.echoed, requester.acknowledged(), requester.sent(),
                     requester.recoveries(), acknowledgement.echoes_mark, hops_of(telemetry)});
  apply_decision(qp, engine_.now_);
}

void NicControls::on_feedback(PacketIndex index) {
  const std::uint32_t qp = world_.pool[index].qp;
  const FairRate fair_rate = engine_.feedback_.fair_rate_of(index);
  world_.pool.free(index);
  engine_.change_nic(world_.senders[qp].link, [&] {
    up_to_date_controller(qp).on_feedback(engine_.now_, fair_rate.port, fair_rate.rate);
    return apply_decision(qp, engine_.now_);
  });
  update_timer(qp);
}

void Feedback::start_period(const ClassedPort& classes) {
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
    if (has_priority(classes.waiting, priority)) send_fair_rates(link, priority, rate);
  });
  rocc.is_pending = !rocc.is_at_rest();
  if (rocc.is_pending) engine_.timers_.set(rocc.timer, rocc.next_period(engine_.now_));
}

// To every flow that has packets in the queue, in the order of their numbers.
void Feedback::send_fair_rates(std::uint32_t link, std::uint32_t priority, BitsPerSecond rate) {
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

// The message takes the reverse path of the flow's packets.
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
