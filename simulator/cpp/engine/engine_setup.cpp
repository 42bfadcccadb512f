// Building the topology and its queue pairs. Configurations have been checked by the Python face.
#include <algorithm>
#include <iterator>

#include "cc/registry.h"
#include "engine/engine.h"

namespace simulator {

Engine::Engine(std::uint64_t seed, const Framing& framing)
    : tree_(TieBreak(seed)),
      framing_(framing),
      seed_(seed),
      throughput_timer_(timers_.create(TimerKind::kSampleThroughput, 0)),
      queue_timer_(timers_.create(TimerKind::kSampleQueues, 0)) {}

std::uint32_t Engine::add_host(const std::string& name, const NicProfile& profile) {
  nodes_.push_back({name, true, static_cast<std::uint32_t>(nics_.size())});
  RandomStream identifications(seed_, "identification:" + name);
  nics_.push_back({.ready = {},
                   .profile = profile,
                   .clock = NicClock(profile, RandomStream(seed_, "clock:" + name)),
                   .pci = PciDelay(profile, RandomStream(seed_, "pci:" + name)),
                   .next_identification = static_cast<std::uint16_t>(identifications.next_bits()),
                   .name = name,
                   .paused = {},
                   .limiters = {}});
  while (nics_.back().limiters.size() < profile.limiters) add_limiter(nics_.back());
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t Engine::add_limiter(Nic& nic) {
  const std::string name = "limiter-lag:" + nic.name + ":" + std::to_string(nic.limiters.size());
  nic.limiters.push_back(static_cast<std::uint32_t>(limiters_.size()));
  limiters_.emplace_back(nic.clock.second());
  lags_.emplace_back(seed_, name);
  return nic.limiters.back();
}

std::uint32_t Engine::add_switch(const std::string& name, const SwitchConfiguration& configuration) {
  nodes_.push_back({name, false, static_cast<std::uint32_t>(switches_.size())});
  switches_.push_back({.buffer = configuration.buffer.value_or(Bytes{}).value,
                       .alpha = configuration.alpha,
                       .is_bounded = configuration.buffer && !configuration.has_classes(),
                       .has_classes = configuration.has_classes(),
                       .links = {},
                       .pool = PausePool(configuration),
                       .inputs = {},
                       .is_input_queued = configuration.is_input_queued,
                       .markings = configuration.markings,
                       .weights = configuration.weights,
                       .has_weights = configuration.has_weights(),
                       .rocc = configuration.rocc,
                       .has_telemetry = configuration.has_telemetry});
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t Engine::add_link(std::uint32_t a, std::uint32_t b, const LinkConfiguration& configuration) {
  if (ports_.size() + 2 > WinnerTree::kLinksMax) {
    throw SimulationError("too many links: at most " + std::to_string(WinnerTree::kLinksMax / 2));
  }
  add_port(a, b, configuration, configuration.headroom_a);
  add_port(b, a, configuration, configuration.headroom_b);
  return static_cast<std::uint32_t>(ports_.size() - 2);
}

std::uint16_t Engine::speed_index(const LinkConfiguration& configuration) {
  const auto same = [&](const LinkSpeed& speed) {
    return speed.rate == configuration.rate && speed.delay == configuration.delay;
  };
  const auto found = std::find_if(speeds_.begin(), speeds_.end(), same);
  if (found != speeds_.end()) return static_cast<std::uint16_t>(found - speeds_.begin());
  if (speeds_.size() > 0xffff)
    throw SimulationError("too many kinds of links: at most 65536 pairs of rate and delay");
  speeds_.emplace_back(configuration.rate, configuration.delay);
  return static_cast<std::uint16_t>(speeds_.size() - 1);
}

bool Engine::has_flow_control(std::uint32_t node) const {
  return !nodes_[node].is_host && switches_[nodes_[node].index].pool.pause().priorities != 0;
}

bool Engine::has_marking(std::uint32_t node) const {
  return !nodes_[node].is_host && !switches_[nodes_[node].index].markings.empty();
}

bool Engine::has_pool(std::uint32_t node) const {
  return !nodes_[node].is_host && switches_[nodes_[node].index].has_classes;
}

// The part of a port that plain output-queued switches do without.
void Engine::add_classes(Port& port, std::uint32_t from, std::uint32_t to, Bytes headroom) {
  const auto link = static_cast<std::uint32_t>(ports_.size());
  port.flags |= Port::kClassed;
  classes_.resize(link + 1);  // by link, so that nothing need be read to find it
  ingresses_.resize(link + 1);
  ClassedPort& classes = classes_[link];
  IngressAccount& ingress = ingresses_[link];
  classes.open();
  if (is_input_queued(from)) add_input(switches_[port.owner], classes, ingress);
  if (has_flow_control(from)) {
    pool_of(switches_[port.owner], ingress).open(ingress, headroom);
    classes.refresh_timer = timers_.create(TimerKind::kRefreshPause, link);
    classes.watchdog_timer = timers_.create(TimerKind::kWatchdog, link);
  }
  if (nodes_[from].is_host) return;
  const Switch& element = switches_[port.owner];
  if (element.has_weights) classes.turns = std::make_unique<WeightedTurns>(element.weights);
  classes.has_turns = element.has_weights;
  classes.has_telemetry = element.has_telemetry;
  if (element.rocc) {
    const std::uint32_t timer = timers_.create(TimerKind::kCongestionPoint, link);
    classes.rocc = std::make_unique<RoccPort>(*element.rocc, speeds_[port.speed].rate, timer);
  }
  if (!has_marking(from)) return;
  const RandomStream stream(seed_, "marking:" + nodes_[from].name + "->" + nodes_[to].name);
  classes.use_marker(Marker(switches_[port.owner].markings, stream));
}

void Engine::add_port(std::uint32_t from, std::uint32_t to, const LinkConfiguration& configuration,
                      Bytes headroom) {
  const auto link = static_cast<std::uint32_t>(ports_.size());
  Port port;
  port.speed = speed_index(configuration);
  port.owner = nodes_[from].index;
  if (nodes_[to].is_host) port.flags |= Port::kPeerIsHost;
  if (nodes_[from].is_host) {
    port.flags |= Port::kOwnerIsHost;
    nics_[port.owner].link = link;
  } else {
    if (switches_[port.owner].is_bounded) port.flags |= Port::kSharedBuffer;
    switches_[port.owner].links.push_back(link);
  }
  if (has_pool(from) || has_flow_control(to)) add_classes(port, from, to, headroom);
  const RandomStream stream(seed_, "loss:" + nodes_[from].name + "->" + nodes_[to].name);
  links_.push_back({.from = from, .to = to, .loss = LinkLoss(configuration.loss, stream), .lost_bytes = {}});
  if (configuration.loss.kind == LossKind::kIdentification) counts_identifications_ = true;
  if (links_.back().loss.is_possible()) port.flags |= Port::kLossy;
  ports_.push_back(port);
}

void Engine::cut_link(std::uint32_t link, Picoseconds start, Picoseconds end) {
  links_[link].loss.cut(start, end);
  ports_[link].flags |= Port::kLossy;
}

// From so many ports on it pays to look ahead; with 324 of them, as in W2, it costs 4 ns per hop.
static constexpr std::size_t kLargeFromPorts = 1024;

void Engine::complete_topology() {
  if (is_complete_) return;
  is_complete_ = true;
  for (Port& port : ports_) {
    if (counts_identifications_ && port.has(Port::kOwnerIsHost)) port.flags |= Port::kLossy;
  }
  tree_.reset(static_cast<std::uint32_t>(ports_.size()));
  looks_ahead_ = ports_.size() >= kLargeFromPorts;
  set_timer_slot();
}

std::uint32_t Engine::connect(const ConnectionConfiguration& configuration) {
  constexpr std::uint32_t kMax = ReadyQueuePair::kQueuePairsMax;
  const auto first = static_cast<std::uint32_t>(senders_.size());
  if (first + 2 > kMax) throw SimulationError("too many queue pairs: at most " + std::to_string(kMax));
  complete_topology();
  add_queue_pair(configuration.host_a, first + 1, configuration.route_ab, configuration);
  add_queue_pair(configuration.host_b, first, configuration.route_ba, configuration);
  return first;
}

// The limiter of a new queue pair: the next priority's, its own, or that of the same host's end of a pair
// that lends its limiters.
std::uint32_t Engine::limiter_for(Nic& nic, const ConnectionConfiguration& configuration) {
  if (nic.profile.limiters == 0 || !configuration.control.empty()) return add_limiter(nic);
  nic.shares_limiters = true;
  if (!configuration.limiter_of) return nic.limiters[nic.queue_pairs++ % nic.profile.limiters];
  require_uncontrolled(*configuration.limiter_of, "limiter_of");
  const Sender& lender = senders_[*configuration.limiter_of];
  return &nics_[lender.nic] == &nic ? lender.limiter : senders_[lender.peer].limiter;
}

void Engine::add_queue_pair(std::uint32_t host, std::uint32_t peer, const std::vector<std::uint32_t>& route,
                            const ConnectionConfiguration& configuration) {
  const auto qp = static_cast<std::uint32_t>(senders_.size());
  const std::uint32_t index = nodes_[host].index;
  Nic& nic = nics_[index];
  priorities_ |= mask_of(configuration.priority);
  const std::uint32_t limiter = limiter_for(nic, configuration);
  const RequesterSettings settings{.mtu_bytes = configuration.mtu_bytes,
                                   .ack_every_packets = configuration.ack_every_packets,
                                   .retry_count = configuration.retry_count,
                                   .retransmit_timeout = retransmit_timeout(configuration.timeout_exponent),
                                   .is_unreliable = configuration.is_unreliable,
                                   .withholds_next_verb = nic.profile.withholds_next_verb};
  senders_.push_back(
      {.requester = RcRequester(settings),
       .route = static_cast<std::uint32_t>(routes_.size()),
       .link = route.front(),
       .peer = peer,
       .nic = index,
       .limiter = limiter,
       .timer = timers_.create(TimerKind::kRetransmit, qp),
       .ready = {},
       .priority_flags = static_cast<std::uint8_t>(configuration.priority << PacketFlags::kPriorityShift),
       .is_unreliable = configuration.is_unreliable});
  if (!configuration.reliability.empty()) add_reliability(qp, configuration);
  if (!configuration.control.empty()) add_control(qp, configuration);
  receivers_.emplace_back();
  delivered_sampled_.emplace_back();
  mailbox_.add_queue_pair();
  routes_.insert(routes_.end(), route.begin(), route.end());
  prepare_end(route);
  if (!senders_[qp].wants_feedback) return;
  controlled_[qp].feedback_route = static_cast<std::uint32_t>(routes_.size());
  controlled_[qp].route_links = static_cast<std::uint32_t>(route.size());
  std::transform(route.rbegin(), route.rend(), std::back_inserter(routes_),
                 [](std::uint32_t link) { return link ^ 1; });
}

// Its limiter, which it has for itself, belongs to the control.
void Engine::add_control(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  Sender& sender = senders_[qp];
  const BitsPerSecond line_rate = speeds_[ports_[sender.link].speed].rate;
  controlled_.resize(senders_.size());
  controlled_[qp] = {
      .controller = create_controller(configuration.control, configuration.control_parameters, line_rate),
      .timer = timers_.create(TimerKind::kControl, qp),
      .notification_flags =
          static_cast<std::uint8_t>(configuration.notification_priority << PacketFlags::kPriorityShift),
      .line_rate = line_rate,
      .rate = {},
      .next_notification = {}};
  sender.is_controlled = true;
  limiters_[sender.limiter].set_burst(controlled_[qp].controller->burst());
  sender.wants_answers = controlled_[qp].controller->wants_answers();
  sender.wants_telemetry = controlled_[qp].controller->wants_telemetry();
  sender.wants_feedback = controlled_[qp].controller->wants_feedback();
  follow_control(qp, now_);
  priorities_ |= mask_of(configuration.notification_priority);
}

void Engine::set_timer(std::uint32_t timer, Picoseconds at) {
  timers_.set(timer, std::max(at, now_));
  set_timer_slot();
}

void Engine::call_once(std::uint32_t call, Picoseconds at) {
  timers_.set_once(TimerKind::kHostOnce, call, std::max(at, now_));
  set_timer_slot();
}

std::uint32_t Engine::create_timer() {
  const std::uint32_t timer = timers_.next_id();
  return timers_.create(TimerKind::kHost, timer);
}

void Engine::cancel_timer(std::uint32_t timer) {
  timers_.cancel(timer);
}

void Engine::sample_throughput(Picoseconds interval) {
  throughput_interval_ = interval;
  set_timer(throughput_timer_, now_ + interval);
}

void Engine::sample_queues(Picoseconds interval) {
  queue_interval_ = interval;
  set_timer(queue_timer_, now_ + interval);
}

}  // namespace simulator
