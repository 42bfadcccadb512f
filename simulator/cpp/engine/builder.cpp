// Adds hosts, switches and links, with their ports, to the engine's world. The Python layer has checked the
// configurations.
#include "engine/builder.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "engine/winner_tree.h"
#include "protocol/shared_buffer.h"

namespace simulator {

std::uint32_t Builder::add_host(const std::string& name, const NicProfile& profile) {
  world_.nodes.push_back({name, true, static_cast<std::uint32_t>(world_.nics.size())});
  world_.ip_ids.add_nic(RandomStream(world_.seed, "identification:" + name).next_bits());
  world_.nics.push_back({.ready = {},
                         .profile = profile,
                         .clock = NicClock(profile, RandomStream(world_.seed, "clock:" + name)),
                         .pci = PciDelay(profile, RandomStream(world_.seed, "pci:" + name)),
                         .name = name,
                         .paused = {},
                         .limiters = {}});
  while (world_.nics.back().limiters.size() < profile.limiters) add_limiter(world_.nics.back());
  return static_cast<std::uint32_t>(world_.nodes.size() - 1);
}

std::uint32_t Builder::add_limiter(Nic& nic) {
  const std::string name = "limiter-lag:" + nic.name + ":" + std::to_string(nic.limiters.size());
  nic.limiters.push_back(static_cast<std::uint32_t>(world_.limiters.size()));
  world_.limiters.emplace_back(nic.clock.second());
  world_.lags.emplace_back(world_.seed, name);
  return nic.limiters.back();
}

std::uint32_t Builder::add_switch(const std::string& name, const SwitchConfiguration& configuration) {
  world_.nodes.push_back({name, false, static_cast<std::uint32_t>(world_.switches.size())});
  world_.switches.push_back({.buffer = configuration.buffer.value_or(Bytes{}).value,
                             .alpha = configuration.alpha,
                             .is_bounded = configuration.buffer && !configuration.has_classes(),
                             .has_classes = configuration.has_classes(),
                             .is_input_queued = configuration.is_input_queued,
                             .links = {},
                             .shared_buffer = SharedBuffer(configuration),
                             .inputs = {},
                             .configuration = configuration});
  if (configuration.port_selector)
    world_.switches.back().port_selector = configuration.port_selector(place_of_switch(world_.seed, name));
  if (configuration.trimming) world_.priorities |= mask_of(configuration.trimming->priority);
  return static_cast<std::uint32_t>(world_.nodes.size() - 1);
}

std::uint32_t Builder::add_link(std::uint32_t a, std::uint32_t b, const LinkConfiguration& configuration) {
  if (world_.ports.size() + 2 > WinnerTree::kLinksMax) {
    throw SimulationError("too many links: at most " + std::to_string(WinnerTree::kLinksMax / 2));
  }
  add_port(a, b, configuration, configuration.headroom_a);
  add_port(b, a, configuration, configuration.headroom_b);
  return static_cast<std::uint32_t>(world_.ports.size() - 2);
}

std::uint16_t Builder::speed_index(const LinkConfiguration& configuration) {
  const std::pair kind{configuration.rate.value, configuration.delay.value};
  if (world_.speeds.size() > 0xffff && !speeds_.contains(kind))
    throw SimulationError("too many kinds of links: at most 65536 pairs of rate and delay");
  const auto [found, is_new] = speeds_.try_emplace(kind, static_cast<std::uint16_t>(world_.speeds.size()));
  if (is_new) world_.speeds.emplace_back(configuration.rate, configuration.delay);
  return found->second;
}

// The part of a port that plain output-queued switches do without.
void Builder::add_classes(Port& port, std::uint32_t from, std::uint32_t to, Bytes headroom) {
  const auto link = static_cast<std::uint32_t>(world_.ports.size());
  port.flags |= Port::kClassed;
  world_.classes.resize(link + 1);  // indexed by link: no lookup
  world_.ingresses.resize(link + 1);
  ClassedPort& classes = world_.classes[link];
  IngressAccount& ingress = world_.ingresses[link];
  classes.open();
  if (world_.is_input_queued(from)) add_input(world_.switches[port.owner], classes, ingress);
  if (world_.has_flow_control(from)) {
    world_.buffer_of(world_.switches[port.owner], ingress).open(ingress, headroom);
    classes.counters->refresh_timer = timers_.create(TimerKind::kRefreshPause, link);
    classes.counters->watchdog_timer = timers_.create(TimerKind::kWatchdog, link);
  }
  if (world_.nodes[from].is_host) return;
  const SwitchConfiguration& own = world_.switches[port.owner].configuration;
  if (own.has_weights()) classes.turns = std::make_unique<WeightedTurns>(own.weights);
  classes.policies = own.has_weights() ? ClassedPort::kWeighted : 0;
  classes.has_telemetry = own.has_telemetry;
  const BitsPerSecond rate = world_.speeds[port.speed].rate;
  const Node &here = world_.nodes[from], &there = world_.nodes[to];
  const std::string name = here.name + "->" + there.name;
  if (own.trimming) {
    const RandomStream coin(world_.seed, "trimming:" + name);
    classes.use_trimming(at_rate(*own.trimming, rate, own.thresholds_at), coin);
  }
  if (own.rocc) {
    const std::uint32_t timer = timers_.create(TimerKind::kCongestionPoint, link);
    classes.rocc = std::make_unique<RoccPort>(*own.rocc, rate, timer);
  }
  if (own.aqm)
    classes.use_aqm(own.aqm(place_of_port(world_.seed, here.name, there.name, rate, there.is_host)));
  const auto rules = rules_towards(there.is_host, own.markings);
  if (rules.empty()) return;
  const RandomStream marks(world_.seed, "marking:" + name);
  classes.use_marker(Marker(at_rate(rules, rate, own.thresholds_at), marks));
}

void Builder::add_port(std::uint32_t from, std::uint32_t to, const LinkConfiguration& configuration,
                       Bytes headroom) {
  const auto link = static_cast<std::uint32_t>(world_.ports.size());
  Port port;
  port.speed = speed_index(configuration);
  port.owner = world_.nodes[from].index;
  if (world_.nodes[to].is_host) port.flags |= Port::kPeerIsHost;
  if (world_.switch_at(to) != nullptr && world_.switch_at(to)->port_selector)
    port.flags |= Port::kPeerSelectsPort;
  if (world_.nodes[from].is_host) {
    port.flags |= Port::kOwnerIsHost;
    world_.nics[port.owner].link = link;
  } else {
    if (world_.switches[port.owner].is_bounded) port.flags |= Port::kSharedBuffer;
    world_.switches[port.owner].links.push_back(link);
  }
  if (world_.has_classes(from) || world_.has_flow_control(to)) add_classes(port, from, to, headroom);
  const RandomStream stream(world_.seed, "loss:" + world_.nodes[from].name + "->" + world_.nodes[to].name);
  world_.links.push_back(
      {.from = from, .to = to, .loss = LinkLoss(configuration.loss, stream), .lost_bytes = {}});
  if (configuration.loss.kind == LossKind::kIpId) world_.ip_ids.count();
  if (world_.links.back().loss.is_possible()) port.flags |= Port::kLossy;
  world_.ports.push_back(port);
}

// One more port of an input-queued switch; its link is already among those of the switch.
void Builder::add_input(Switch& element, ClassedPort& classes, IngressAccount& ingress) {
  ingress.input = static_cast<std::uint32_t>(element.inputs.size());
  classes.virtual_queues = std::make_unique<VirtualQueues>();
  classes.has_virtual_queues = true;
  element.inputs.push_back(element.shared_buffer);
}

}  // namespace simulator
