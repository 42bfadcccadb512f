// Setting up a run, and reading its results.

#include <algorithm>
#include <span>

#include "engine/departures.h"
#include "engine/engine.h"
#include "engine/inspection.h"
#include "protocol/queue_pair.h"

namespace simulator {

Engine::Engine(std::uint64_t seed, const Framing& framing)
    : tree_(TieBreak(seed)),
      world_(seed, framing),
      samplers_(world_, timers_, recorder_),
      builder_(world_, timers_),
      controls_(*this, world_),
      feedback_(*this, world_),
      packet_events_(*this, world_),
      faults_(*this, world_),
      reliabilities_(*this, world_),
      credits_(*this, world_),
      route_ends_(*this, world_),
      forwarding_(world_) {}

// Prefetching pays from this number of ports on; with 324 ports, as in W2, it costs 4 ns per hop.
static constexpr std::size_t kLargeFromPorts = 1024;

void Engine::complete_topology() {
  if (is_complete_) return;
  is_complete_ = true;
  for (Port& port : world_.ports) {
    if (world_.ip_ids.are_counted() && port.has(Port::kOwnerIsHost)) port.flags |= Port::kLossy;
  }
  prepare_running_ahead();
  prefetches_ = world_.ports.size() >= kLargeFromPorts;
  set_timer_slot();
}

std::uint32_t Engine::connect(const ConnectionConfiguration& configuration) {
  constexpr std::uint32_t kMax = ReadyQueuePair::kQueuePairsMax;
  const auto first = static_cast<std::uint32_t>(world_.senders.size());
  if (first + 2 > kMax) throw SimulationError("too many queue pairs: at most " + std::to_string(kMax));
  complete_topology();
  add_queue_pair(configuration.host_a, first + 1, configuration.route_ab, configuration);
  add_queue_pair(configuration.host_b, first, configuration.route_ba, configuration);
  return first;
}

// The limiter of a new queue pair: the next priority's, its own, or that of the same host's end of a pair
// that lends its limiters.
std::uint32_t Engine::limiter_for(Nic& nic, const ConnectionConfiguration& configuration) {
  if (nic.profile.limiters == 0 || !configuration.control.empty()) return builder_.add_limiter(nic);
  nic.shares_limiters = true;
  if (!configuration.limiter_of) return nic.limiters[nic.queue_pairs++ % nic.profile.limiters];
  controls_.require_none(*configuration.limiter_of, "limiter_of");
  const Sender& lender = world_.senders[*configuration.limiter_of];
  return &world_.nics[lender.nic] == &nic ? lender.limiter : world_.senders[lender.peer].limiter;
}

void Engine::add_queue_pair(std::uint32_t host, std::uint32_t peer, const std::vector<std::uint32_t>& route,
                            const ConnectionConfiguration& configuration) {
  const auto qp = static_cast<std::uint32_t>(world_.senders.size());
  const std::uint32_t index = world_.nodes[host].index;
  Nic& nic = world_.nics[index];
  world_.priorities |= mask_of(configuration.priority);
  const std::uint32_t limiter = limiter_for(nic, configuration);
  const RequesterSettings settings{
      .mtu_bytes = configuration.mtu_bytes,
      .ack_every_packets = configuration.ack_every_packets,
      .retry_count = configuration.retry_count,
      .retransmit_timeout =
          std::max(retransmit_timeout(configuration.timeout_exponent), nic.profile.timeout_min),
      .is_unreliable = configuration.is_unreliable,
      .retrying = nic.profile.retrying,
      .withholds_next_verb = nic.profile.withholds_next_verb,
      .unacknowledged_packets_max = nic.profile.unacknowledged_packets_max,
      .packets_after_nak_max = nic.profile.packets_after_nak_max};
  world_.senders.push_back(
      {.requester = RcRequester(settings),
       .route = static_cast<std::uint32_t>(world_.routes.size()),
       .link = route.front(),
       .peer = peer,
       .nic = index,
       .limiter = limiter,
       .timer = timers_.create(TimerKind::kRetransmit, qp),
       .ready = {},
       .priority_flags = static_cast<std::uint8_t>(configuration.priority << PacketFlags::kPriorityShift),
       .is_unreliable = configuration.is_unreliable});
  if (is_recording_) world_.senders.back().requester.describe_all();
  if (!configuration.reliability.empty()) reliabilities_.add(qp, configuration);
  if (!configuration.control.empty()) controls_.add(qp, configuration);
  world_.receivers.emplace_back();
  mailbox_.add_queue_pair();
  late_completions_.add_queue_pair();
  world_.routes.insert(world_.routes.end(), route.begin(), route.end());
  route_ends_.prepare(route);
  controls_.add_feedback_route(qp, route);
  forwarding_.add(qp, configuration.path_seed);
  if (configuration.spray_paths != 0) spray(qp, route, configuration);
}

// Packets that are sprayed are none of the fast path.
void Engine::spray(std::uint32_t qp, const std::vector<std::uint32_t>& route,
                   const ConnectionConfiguration& configuration) {
  world_.senders[qp].is_sprayed = true;
  world_.senders[qp].requester.describe_all();
  forwarding_.spray(qp, route, configuration);
  reliabilities_.spray(qp, forwarding_.stream_of(qp), configuration.spray_paths);
}

std::uint32_t Engine::add_route(const std::vector<std::uint32_t>& links) {
  const auto route = static_cast<std::uint32_t>(world_.routes.size());
  world_.routes.insert(world_.routes.end(), links.begin(), links.end());
  route_ends_.prepare(links);
  return route;
}

// A packet that has left its NIC keeps its old route unless it is sprayed.
void Engine::reroute(const std::vector<std::uint32_t>& left_out) {
  require_no_switch_ahead("rerouting", now_);
  catch_up_all();
  forwarding_.exclude_links(left_out);
  for (std::uint32_t qp = 0; qp < world_.senders.size(); ++qp) {
    Sender& sender = world_.senders[qp];
    const std::vector<std::uint32_t> route = forwarding_.route_of(qp);
    const auto old = std::span(world_.routes).subspan(sender.route);
    if (old.size() >= route.size() && std::equal(route.begin(), route.end(), old.begin())) continue;
    sender.route = static_cast<std::uint32_t>(world_.routes.size());
    world_.routes.insert(world_.routes.end(), route.begin(), route.end());
  }
}

void Engine::set_timer(std::uint32_t timer, Picoseconds at) {
  timers_.set(timer, std::max(at, now_));
  set_timer_slot();
}

void Engine::call_once(std::uint32_t call, Picoseconds at) {
  timers_.set_once(TimerKind::kHostOnce, call, std::max(at, now_));
  set_timer_slot();
}

void Engine::call_when_delivered(std::uint32_t qp, Bytes delivered, std::uint32_t call) {
  if (delivered <= world_.delivered_by(qp)) return call_once(call, now_);
  deliveries_.add(qp, delivered, call);
}

std::uint32_t Engine::create_timer() {
  const std::uint32_t timer = timers_.next_id();
  return timers_.create(TimerKind::kHost, timer);
}

void Engine::cancel_timer(std::uint32_t timer) {
  timers_.cancel(timer);
}

void Engine::sample_throughput(Picoseconds interval) {
  samplers_.sample_throughput_every(interval, now_);
  set_timer_slot();
}

void Engine::sample_queues(Picoseconds interval) {
  require_no_switch_ahead("sample_queues", now_);
  samplers_.sample_queues_every(interval, now_);
  set_timer_slot();
}

// Queries between two instants: every link catches up first.

void Engine::catch_up_link(std::uint32_t link) {
  catch_up(world_.ports[link]);
  set_slot(link);
}

void Engine::catch_up_all() {
  if (!is_complete_) return;
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) catch_up_link(link);
}

QueuePairFigures Engine::queue_pair_figures(std::uint32_t qp) {
  const Sender& sender = world_.senders[qp];
  catch_up_link(sender.link);
  return {.state = sender.state,
          .retransmitted = world_.counters_of(qp).retransmitted_bytes,
          .delivered = world_.delivered_by(qp),
          .posted = world_.posted_by(qp),
          .delivered_messages = world_.messages_delivered_by(qp),
          .control_rate = controls_.rate_of(qp)};
}

// When the last packet of a verb first left, while the verb is not done. Then it is the host software's
// business.
Picoseconds Engine::left_nic(std::uint32_t qp, std::uint64_t wr_id) {
  catch_up_link(world_.senders[qp].link);
  return world_.with_requester(qp, [&](const auto& requester) { return requester.left_nic(wr_id); });
}

void Engine::add_open_pauses(PauseState::Records& records) const {
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) {
    const Port& port = world_.ports[link];
    if (port.has(Port::kClassed)) world_.classes_of(port).pauses->add_open(now_, link, records);
  }
}

std::vector<Counter> Engine::counters() {
  catch_up_all();
  return counters_of(world_, controls_);
}

std::vector<Wait> Engine::waits() {
  catch_up_all();
  return waits_in(world_, now_);
}

Statistics Engine::statistics() const {
  return {.packet_hops = packet_hops_,
          .events = events_,
          .packets_live = world_.pool.live(),
          .packets_pool_max = world_.pool.peak(),
          .verbs_done = recorder_.verbs_done()};
}

void Engine::check_invariants() {
  catch_up_all();
  Audit(world_, now_).run();
  reliabilities_.check_trimmed();
  credits_.check();
  datagrams_.check(now_);
}

}  // namespace simulator
