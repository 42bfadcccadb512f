// Set-up, host software, timers and results of the eager engine.
#include <algorithm>

#include "protocol/queue_pair.h"
#include "protocol/shared_buffer.h"
#include "reference_engine/engine.h"
#include "reliability/kind.h"

namespace simulator::reference {

std::uint32_t Engine::add_host(const std::string& name, const NicProfile& profile) {
  RandomStream ip_ids(seed_, "identification:" + name);
  nodes_.push_back({.name = name,
                    .is_host = true,
                    .profile = profile,
                    .clock = NicClock(profile, RandomStream(seed_, "clock:" + name)),
                    .pci = PciDelay(profile, RandomStream(seed_, "pci:" + name)),
                    .next_ip_id = static_cast<std::uint16_t>(ip_ids.next_bits()),
                    .configuration = {},
                    .limiters = {},
                    .lags = {},
                    .queue_pairs = {}});
  while (nodes_.back().limiters.size() < profile.limiters) add_limiter(nodes_.back());
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t Engine::add_switch(const std::string& name, const SwitchConfiguration& configuration) {
  const std::uint32_t node = add_host(name, {});
  nodes_[node].is_host = false;
  nodes_[node].configuration = configuration;
  nodes_[node].shared_buffer = SharedBuffer(configuration);
  if (configuration.trimming) priorities_ |= mask_of(configuration.trimming->priority);
  if (configuration.port_selector)
    nodes_[node].port_selector = configuration.port_selector(place_of_switch(seed_, name));
  return node;
}

std::uint32_t Engine::add_link(std::uint32_t a, std::uint32_t b, const LinkConfiguration& configuration) {
  add_direction(a, b, configuration, configuration.headroom_a);
  add_direction(b, a, configuration, configuration.headroom_b);
  return static_cast<std::uint32_t>(links_.size() - 2);
}

void Engine::add_direction(std::uint32_t from, std::uint32_t to, const LinkConfiguration& configuration,
                           Bytes headroom) {
  const RandomStream stream(seed_, "loss:" + nodes_[from].name + "->" + nodes_[to].name);
  const LinkLoss loss(configuration.loss, stream);
  links_.push_back({.from = from, .to = to, .configuration = configuration, .loss = loss});
  links_.back().has_classes = has_shared_buffer(from) || has_flow_control(to);
  if (has_shared_buffer(from) && nodes_[from].configuration.is_input_queued)
    links_.back().input = SharedBuffer(nodes_[from].configuration);
  if (has_shared_buffer(from) && nodes_[from].configuration.has_weights())
    links_.back().turns = WeightedTurns(nodes_[from].configuration.weights);
  const SwitchConfiguration& own = nodes_[from].configuration;
  const std::string name = nodes_[from].name + "->" + nodes_[to].name;
  if (has_shared_buffer(from) && own.trimming)
    links_.back().trimming = at_rate(*own.trimming, configuration.rate, own.thresholds_at);
  if (own.trimming && own.trimming->by_coin)
    links_.back().trimming_coin = RandomStream(seed_, "trimming:" + name);
  links_.back().aqm = judge_for(links_.back());
  const auto rules = rules_towards(nodes_[to].is_host, own.markings);
  if (has_shared_buffer(from) && !rules.empty()) {
    const RandomStream marks(seed_, "marking:" + name);
    links_.back().marker = Marker(at_rate(rules, configuration.rate, own.thresholds_at), marks);
  }
  const auto number = static_cast<std::uint32_t>(links_.size() - 1);
  if (has_flow_control(from)) {
    buffer_at(number).open(links_.back().ingress, headroom);
    links_.back().refresh_timer = add_timer(TimerKind::kRefreshPause, number);
    links_.back().watchdog_timer = add_timer(TimerKind::kWatchdog, number);
  }
  if (nodes_[from].is_host || !nodes_[from].configuration.rocc) return;
  const std::uint32_t timer = add_timer(TimerKind::kCongestionPoint, number);
  links_.back().rocc.emplace(*nodes_[from].configuration.rocc, configuration.rate, timer);
}

std::uint32_t Engine::connect(const ConnectionConfiguration& configuration) {
  const auto first = static_cast<std::uint32_t>(queue_pairs_.size());
  add_queue_pair(configuration.host_a, first + 1, configuration.route_ab, configuration);
  add_queue_pair(configuration.host_b, first, configuration.route_ba, configuration);
  return first;
}

std::uint32_t Engine::add_datagram_queue_pair(std::uint32_t host) {
  mailbox_.add_datagram_queue_pair();
  datagram_hosts_.push_back(host);
  return static_cast<std::uint32_t>(datagram_hosts_.size() - 1);
}

std::uint32_t Engine::add_route(const std::vector<std::uint32_t>& links) {
  routes_.push_back(std::make_shared<const std::vector<std::uint32_t>>(links));
  prepare_end(links);
  return static_cast<std::uint32_t>(routes_.size() - 1);
}

void Engine::add_queue_pair(std::uint32_t host, std::uint32_t peer, const std::vector<std::uint32_t>& route,
                            const ConnectionConfiguration& configuration) {
  const auto qp = static_cast<std::uint32_t>(queue_pairs_.size());
  Node& node = nodes_[host];
  const std::uint32_t limiter = limiter_for(host, configuration);
  if (limiter == node.limiters.size()) add_limiter(node);
  node.queue_pairs.push_back(qp);
  priorities_ |= mask_of(configuration.priority);
  const RcRequester requester(
      {.mtu_bytes = configuration.mtu_bytes,
       .ack_every_packets = configuration.ack_every_packets,
       .retry_count = configuration.retry_count,
       .retransmit_timeout =
           std::max(retransmit_timeout(configuration.timeout_exponent), node.profile.timeout_min),
       .is_unreliable = configuration.is_unreliable,
       .retrying = node.profile.retrying,
       .withholds_next_verb = node.profile.withholds_next_verb,
       .unacknowledged_packets_max = node.profile.unacknowledged_packets_max,
       .packets_after_nak_max = node.profile.packets_after_nak_max});
  queue_pairs_.push_back({.requester = requester,
                          .responder = {},
                          .route = std::make_shared<const std::vector<std::uint32_t>>(route),
                          .feedback_route = {},
                          .node = host,
                          .peer = peer,
                          .limiter = limiter,
                          .timer = add_timer(TimerKind::kRetransmit, qp),
                          .ready = {},
                          .delivered_sampled = {},
                          .priority = configuration.priority,
                          .is_unreliable = configuration.is_unreliable});
  queue_pairs_.back().path_seed = configuration.path_seed;
  std::vector<std::uint32_t> back(route.rbegin(), route.rend());
  for (std::uint32_t& link : back) link ^= 1;
  queue_pairs_.back().feedback_route = std::make_shared<const std::vector<std::uint32_t>>(std::move(back));
  if (!configuration.reliability.empty()) add_reliability(qp, configuration);
  if (!configuration.control.empty()) add_control(qp, configuration);
  if (configuration.spray_paths != 0) add_spray(qp, configuration);
  prepare_end(route);
  mailbox_.add_queue_pair();
  late_completions_.add_queue_pair();
}

std::int64_t Engine::post(std::uint32_t qp, const Verb& verb) {
  QueuePair& sender = queue_pairs_[qp];
  if (sender.state != QueuePairState::kReadyToSend)
    throw QueuePairError(queue_pair_name(qp) + " is in state " + std::string(name_of(sender.state)));
  if (!sender.has_packet()) sender.ready = std::max(sender.ready, now_);
  if (memories_.is_bound(qp) && verb.kind != VerbKind::kSend) memories_.check(qp, verb);
  if (sender.reliability) {
    require_plain_write(qp, verb);
    sender.reliability->requester->post(verb);
  } else {
    sender.requester.post(verb);
  }
  send_if_possible(sender.route->front());
  return nic_clock_ns(qp);
}

void Engine::post_datagram(Datagram datagram) {
  const std::uint32_t link = routes_[datagram.route]->front();
  const std::uint32_t frame_bytes = framing_.datagram_frame_bytes(datagram.payload.size());
  const auto shared = std::make_shared<const Datagram>(std::move(datagram));
  enqueue(link, {PacketKind::kDatagram, 0, 0, 0, frame_bytes, 0, {}, shared});
}

void Engine::on_datagram(const Datagram& datagram) {
  const std::uint32_t source = datagram_queue_pair_number(datagram.source);
  recorder_.on_datagram(datagram_queue_pair_number(datagram.destination), source, datagram.wr_id, now_);
  const std::int64_t nic_ns = nodes_[datagram_hosts_[datagram.destination]].clock.read_ns(now_);
  mailbox_.receive_datagram(datagram.destination, {source, nic_ns, datagram.payload});
}

const std::vector<std::uint32_t>& Engine::route_of(const Packet& packet) const {
  if (packet.kind == PacketKind::kStray) return stray_routes_[packet.stray_route];
  return *packet.route;
}

// Its route as it is now, when it comes to its NIC; switches' messages have theirs as well.
void Engine::give_route(Packet& packet) const {
  if (packet.route || packet.kind == PacketKind::kStray || packet.kind == PacketKind::kPause) return;
  if (packet.datagram) {
    packet.route = routes_[packet.datagram->route];
    return;
  }
  const QueuePair& origin = queue_pairs_[packet.from];
  packet.route =
      packet.kind == PacketKind::kFeedback ? queue_pairs_[origin.peer].feedback_route : origin.route;
}

void Engine::reset(std::uint32_t qp) {
  if (queue_pairs_[qp].reliability) refuse_reset(qp);
  queue_pairs_[qp].state = QueuePairState::kReset;
  queue_pairs_[qp].requester.restart(0);
  queue_pairs_[qp].responses.clear();
  cancel_timer(queue_pairs_[qp].timer);
  mailbox_.forget(qp);
  late_completions_.forget(qp);
  deliveries_.forget(qp);
}

void Engine::ready(std::uint32_t qp, std::uint32_t sq_psn, std::uint32_t rq_psn) {
  QueuePair& queue_pair = queue_pairs_[qp];
  if (queue_pair.state != QueuePairState::kReset)
    throw QueuePairError(queue_pair_name(qp) + " is in state " + std::string(name_of(queue_pair.state)));
  queue_pair.requester.restart(sq_psn);
  queue_pair.responder.restart(rq_psn);
  queue_pair.unreliable.restart();
  queue_pair.state = QueuePairState::kReadyToSend;
}

std::uint32_t Engine::add_timer(TimerKind kind, std::uint32_t subject) {
  timers_.push_back({kind, subject, next_order_++});
  return static_cast<std::uint32_t>(timers_.size() - 1);
}

std::uint32_t Engine::create_timer() {
  const auto timer = static_cast<std::uint32_t>(timers_.size());
  return add_timer(TimerKind::kHost, timer);
}

void Engine::set_timer(std::uint32_t timer, Picoseconds at) {
  timers_[timer].deadline = at == kNever ? at : std::max(at, now_);
  if (at != kNever)
    events_.push({timers_[timer].deadline, EventKind::kTimer, timers_[timer].order, 0, timer, {}});
}

void Engine::call_once(std::uint32_t call, Picoseconds at) {
  set_timer(add_timer(TimerKind::kOnce, call), at);
}

void Engine::fire_timer(const Event& event) {
  Timer& timer = timers_[event.timer];
  if (timer.deadline != event.at) return;
  timer.deadline = kNever;
  switch (timer.kind) {
    case TimerKind::kRetransmit:
      return on_retransmit_timer(timer.subject);
    case TimerKind::kSampleThroughput:
      return on_throughput_timer();
    case TimerKind::kSampleQueues:
      return on_queue_timer();
    case TimerKind::kCongestionPoint:
      return on_congestion_timer(timer.subject);
    case TimerKind::kWatchdog:
      return on_watchdog_timer(timer.subject);
    case TimerKind::kLateReply:
      return send_late_reply(timer.subject);
    case TimerKind::kPacketEvent:
      return release_held(watches_[timer.subject]);
    case TimerKind::kReceive:
      return on_receive_timer(timer.subject);
    case TimerKind::kControl:
      return on_control_timer(timer.subject);
    case TimerKind::kRefreshPause:
      return on_refresh_timer(timer.subject);
    case TimerKind::kCredit:
      return grant_what_is_due(timer.subject);
    case TimerKind::kCompletion:
      return late_completions_.deliver(timer.subject, now_, mailbox_);
    case TimerKind::kHost:
      return mailbox_.call({HostCallKind::kTimer, timer.subject});
    case TimerKind::kOnce:
      return mailbox_.call({HostCallKind::kOnce, timer.subject});
  }
}

void Engine::sample_throughput(Picoseconds interval) {
  throughput_interval_ = interval;
  throughput_sampled_ = now_;
  set_timer(0, now_ + interval);
}

void Engine::sample_queues(Picoseconds interval) {
  queue_interval_ = interval;
  set_timer(1, now_ + interval);
}

void Engine::on_throughput_timer() {
  add_open_interval(recorder_.throughput);
  throughput_sampled_ = now_;
  for (std::uint32_t qp = 0; qp < queue_pairs_.size(); ++qp)
    queue_pairs_[qp].delivered_sampled = delivered_by(qp);
  set_timer(0, now_ + throughput_interval_);
}

void Engine::add_open_interval(std::vector<DeliverySample>& rows) const {
  if (throughput_interval_ == Picoseconds{} || now_ == throughput_sampled_) return;
  for (std::uint32_t qp = 0; qp < queue_pairs_.size(); ++qp) {
    if (!with_requester(qp, [](const auto& requester) { return requester.has_ever_posted(); })) continue;
    const Bytes since = delivered_by(qp) - queue_pairs_[qp].delivered_sampled;
    rows.push_back({.qp_num = queue_pair_number(qp),
                    .end = now_,
                    .interval = now_ - throughput_sampled_,
                    .delivered = since});
  }
}

void Engine::on_queue_timer() {
  for (std::uint32_t number = 0; number < links_.size(); ++number) {
    Link& link = links_[number];
    if (nodes_[link.from].is_host) continue;
    for_each_priority(link.has_classes ? priorities_ : mask_of(0), [&](std::uint32_t priority) {
      Queue& queue = link.queues[priority];
      const std::int64_t drops = queue.drops - queue.drops_sampled;
      const std::int64_t marks = queue.marks - queue.marks_sampled;
      queue.marks_sampled = queue.marks;
      recorder_.queues.push_back({.link = number,
                                  .priority = priority,
                                  .at = now_,
                                  .waiting = {queue.bytes},
                                  .waiting_max = {queue.bytes_max},
                                  .drops = drops,
                                  .marks = marks});
      queue.drops_sampled = queue.drops;
      queue.bytes_max = queue.bytes;
    });
  }
  set_timer(1, now_ + queue_interval_);
}

Bytes Engine::delivered_by(std::uint32_t qp) const {
  const QueuePair& receiver = queue_pairs_[queue_pairs_[qp].peer];
  if (receiver.reliability) return receiver.reliability->responder->delivered();
  return receiver.responder.delivered() + receiver.unreliable.delivered() +
         queue_pairs_[qp].requester.read_bytes();
}

QueuePairFigures Engine::queue_pair_figures(std::uint32_t qp) const {
  const QueuePair& sender = queue_pairs_[qp];
  return {.state = sender.state,
          .retransmitted = counters_of(qp).retransmitted_bytes,
          .delivered = delivered_by(qp),
          .posted = with_requester(qp, [](const auto& requester) { return requester.posted_bytes(); }),
          .delivered_messages = queue_pairs_[sender.peer].unreliable.delivered_messages(),
          .control_rate = sender.controller ? sender.controller->rate() : BitsPerSecond{}};
}

std::vector<Counter> Engine::counters() const {
  std::vector<Counter> result;
  for (std::uint32_t number = 0; number < links_.size(); ++number) {
    const Link& link = links_[number];
    const auto add = [&](const char* name, std::int64_t value) {
      result.push_back({number, 0, name, value});
    };
    add("tx_bytes", link.sent_bytes);
    add("rx_bytes", links_[reverse_of(number)].received_bytes);
    add("lost_packets", link.lost_packets);
    if (link.has_route_end) {
      add("expired_packets", link.expired_packets);
      add("stray_packets", link.stray_packets);
    }
    if (nodes_[link.from].is_host) continue;
    std::int64_t drops = 0;
    for (const Queue& queue : link.queues) drops += queue.drops;
    add("drops", drops);
    add_class_counters(number, result);
  }
  for (std::uint32_t qp = 0; qp < queue_pairs_.size(); ++qp) {
    const RequesterCounters counters = counters_of(qp);
    const auto add = [&](const char* name, std::uint64_t value) {
      result.push_back(
          {queue_pairs_[qp].route->front(), queue_pair_number(qp), name, static_cast<std::int64_t>(value)});
    };
    add("retransmitted_packets", counters.retransmitted_packets);
    add("naks", counters.naks);
    add("timeouts", counters.timeouts);
    if (queue_pairs_[qp].controller) {
      add("cnps_sent", static_cast<std::uint64_t>(queue_pairs_[qp].cnps_sent));
      add("cnps_received", static_cast<std::uint64_t>(queue_pairs_[qp].cnps_received));
    }
    if (queue_pairs_[qp].is_unreliable) add("delivered_messages", queue_pair_figures(qp).delivered_messages);
  }
  return result;
}

Statistics Engine::statistics() const {
  return {.packet_hops = packet_hops_,
          .events = events_done_,
          .packets_live = packets_,
          .packets_pool_max = packets_max_,
          .verbs_done = recorder_.verbs_done()};
}

void Engine::check_invariants() const {
  std::vector<std::int64_t> used(nodes_.size(), 0);
  for (const Link& link : links_) {
    if (nodes_[link.from].is_host) continue;
    for (const Queue& queue : link.queues) used[link.from] += queue.bytes;
    for (const std::int64_t headroom : link.ingress.headroom) used[link.from] -= headroom;
    if (link.input) used[link.from] -= link.input->used();
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const bool is_charged_to_shared_buffer = has_shared_buffer(static_cast<std::uint32_t>(i));
    SIM_CHECK((is_charged_to_shared_buffer ? nodes_[i].shared_buffer.used() : nodes_[i].used) == used[i],
              now_, nodes_[i].name, "charged bytes differ from the packets that wait");
  }
  check_credits();
}

}  // namespace simulator::reference
