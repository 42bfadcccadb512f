// The reference engine's controls in NICs and switches, their feedback, and limiters.

#include <algorithm>
#include <set>

#include "cc/registry.h"
#include "protocol/queue_pair.h"
#include "reference_engine/engine.h"

namespace simulator::reference {

// Marking, and congestion control in NICs, of the eager engine.

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

void Engine::send_cnp(std::uint32_t qp) {
  QueuePair& receiver = queue_pairs_[qp];
  if (!receiver.controller || receiver.state != QueuePairState::kReadyToSend) return;
  Picoseconds& next = next_cnp(qp);
  if (now_ < next) return;
  const NicProfile& profile = node_of(qp).profile;
  const Picoseconds gap = receiver.controller->cnp_gap();
  if (gap == kNever) return;
  next = now_ + (profile.cnp_interval == kNever ? gap : profile.cnp_interval);
  ++receiver.cnps_sent;
  Packet packet{PacketKind::kCnp, qp, 0, 0, framing_.cnp_frame_bytes(), 0, {}};
  packet.priority = receiver.cnp_priority;
  send_later(receiver.route->front(), packet, profile.cnp_delay);
}

Picoseconds& Engine::next_cnp(std::uint32_t qp) {
  const std::uint32_t node = queue_pairs_[qp].node;
  const CnpScope scope = nodes_[node].profile.cnp_scope;
  if (scope == CnpScope::kQueuePair) return queue_pairs_[qp].next_cnp;
  return next_cnps_[{node, scope == CnpScope::kPort ? node : queue_pairs_[queue_pairs_[qp].peer].node}];
}

void Engine::send_later(std::uint32_t link, const Packet& packet, Picoseconds delay) {
  if (delay == Picoseconds{}) return enqueue(link, packet);
  const auto number = static_cast<std::uint32_t>(late_replies_.size());
  late_replies_.push_back(packet);
  set_timer(add_timer(TimerKind::kLateReply, number), now_ + delay);
}

void Engine::send_late_reply(std::uint32_t number) {
  const Packet packet = late_replies_[number];
  enqueue(queue_pairs_[packet.from].route->front(), packet);
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
  apply_window(queue_pair);
  const bool has_new_rate = follow_rate(qp);
  if (has_new_rate || (!had_packet && queue_pair.has_packet()))
    queue_pair.ready = std::max(queue_pair.ready, now_);
}

void Engine::apply_window(QueuePair& queue_pair) {
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

// Feedback of switches of the eager engine to senders.

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
    send_fair_rates(number, queue, rate);
  });
  rocc.is_pending = !rocc.is_at_rest();
  if (rocc.is_pending) set_timer(rocc.timer, rocc.next_period(now_));
}

void Engine::send_fair_rates(std::uint32_t number, const Queue& queue, BitsPerSecond rate) {
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

// Parts of switches from outside, in the eager engine.

std::shared_ptr<SwitchControl> Engine::judge_for(const Link& link) const {
  const Node &here = nodes_[link.from], &there = nodes_[link.to];
  if (here.is_host || !here.configuration.aqm) return {};
  return here.configuration.aqm(
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

rogue::Verdict Engine::run_arrival_aqm(Link& link, Packet& packet) {
  if (!link.aqm->sees_arrivals()) return rogue::Verdict::kTake;
  const rogue::Arrival arrival{.now_ps = now_.value,
                               .queue_bytes = link.queues[packet.priority].bytes,
                               .port_bytes = waiting_bytes(link),
                               .must_wait = link.is_busy || link.pauses.is_paused(packet.priority, now_),
                               .packet = seen(packet)};
  const rogue::Verdict verdict = link.aqm->on_arrival(arrival);
  if (verdict == rogue::Verdict::kTrim) cut(link, packet);
  const bool is_mark = verdict == rogue::Verdict::kMark && arrival.packet.can_be_marked;
  return is_mark || verdict == rogue::Verdict::kDrop ? verdict : rogue::Verdict::kTake;
}

bool Engine::may_depart(Link& link, Packet& packet) {
  if (!link.aqm->sees_departures()) return true;
  Queue& queue = link.queues[packet.priority];
  const rogue::Departure departure{.now_ps = now_.value,
                                   .waited_ps = (now_ - packet.queued).value,
                                   .queue_bytes = queue.bytes,
                                   .port_bytes = waiting_bytes(link),
                                   .packet = seen(packet)};
  const rogue::Verdict verdict = link.aqm->on_departure(departure);
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
  SwitchControl& port_selector = *nodes_[node].port_selector;
  std::vector<rogue::EqualPort> equal;
  for (const std::uint32_t port : ports) {
    const Link& link = links_[port];
    const bool tells = port_selector.wants_queues();
    equal.push_back({.rate_bps = link.configuration.rate.value,
                     .queue_bytes = tells ? waiting_bytes(link) : 0,
                     .sent_bytes = tells ? link.sent_bytes : 0,
                     .number = port,
                     .is_sending = tells && link.is_busy});
  }
  const auto hashed = static_cast<std::uint32_t>(std::find(ports.begin(), ports.end(), next) - ports.begin());
  const std::uint32_t chosen =
      ports[port_selector.choose({.now_ps = now_.value,
                                  .ports = equal.data(),
                                  .port_count = static_cast<std::uint32_t>(equal.size()),
                                  .hashed = hashed,
                                  .packet = seen(packet)})];
  turn_to(chosen, packet);
}

// Rate limiters of NICs, in the eager engine.

void Engine::add_limiter(Node& node) {
  const std::string name = "limiter-lag:" + node.name + ":" + std::to_string(node.limiters.size());
  node.limiters.emplace_back(node.clock.second());
  node.lags.emplace_back(seed_, name);
}

std::uint32_t Engine::limiter_for(std::uint32_t host, const ConnectionConfiguration& configuration) {
  Node& node = nodes_[host];
  const auto nth = static_cast<std::uint32_t>(node.queue_pairs.size());
  if (node.profile.limiters == 0) return nth;
  if (!configuration.control.empty()) {
    ++node.lent;
    return static_cast<std::uint32_t>(node.limiters.size());
  }
  if (!configuration.limiter_of) return (nth - node.lent) % node.profile.limiters;
  require_uncontrolled(*configuration.limiter_of, "limiter_of");
  ++node.lent;
  const QueuePair& lender = queue_pairs_[*configuration.limiter_of];
  return lender.node == host ? lender.limiter : queue_pairs_[lender.peer].limiter;
}

BitsPerSecond Engine::set_rate(std::uint32_t qp, BitsPerSecond rate) {
  require_uncontrolled(qp, "set_rate");
  Node& node = node_of(qp);
  const std::uint32_t number = queue_pairs_[qp].limiter;
  const BitsPerSecond effective = rounded_up(rate, node.profile.rate_step);
  const Bytes lag{node.lags[number].next_integer(node.profile.actuation_lag_max.value)};
  node.limiters[number].set_rate(effective, lag, now_);
  if (!node.limiters[number].is_pending()) {
    for (const std::uint32_t other : node.queue_pairs) {
      if (queue_pairs_[other].limiter == number)
        queue_pairs_[other].ready = std::max(queue_pairs_[other].ready, now_);
    }
  }
  send_if_possible(queue_pairs_[qp].route->front());
  return effective;
}

void Engine::use_limiter(std::uint32_t qp, std::uint32_t limiter) {
  QueuePair& queue_pair = queue_pairs_[qp];
  require_uncontrolled(qp, "use_limiter");
  if (!is_idle(qp) || !queue_pair.responses.empty())
    throw QueuePairError(queue_pair_name(qp) + " is not idle: use_limiter needs an empty send queue");
  if (limiter >= node_of(qp).limiters.size())
    throw SimulationError("use_limiter: the NIC has no limiter " + std::to_string(limiter));
  for (const std::uint32_t other : node_of(qp).queue_pairs) {
    if (queue_pairs_[other].limiter == limiter) require_uncontrolled(other, "use_limiter");
  }
  queue_pair.limiter = limiter;
}

}  // namespace simulator::reference
