// Switches run ahead: their data stays in the cache for everything that happens there within a link's delay.
//
// A packet that leaves another node from now on arrives after at least the smallest delay of the links into the switch.
// All arrivals before that are known. They touch the switch's own ports, and counts of lost packets, whose order does
// not matter. So the switch processes them at once, as parallel simulators do. Source: Chandy and Misra, "Distributed
// simulation: a case study in design and verification of distributed programs", 1979.
// Hosts do not run ahead, because their software may do anything at any instant. Nor do switches that pause a link,
// whose departures are events, or switches with timers.
#include <algorithm>
#include <string>
#include <utility>

#include "engine/arrivals.h"
#include "engine/departures.h"

namespace simulator {

// More would reach beyond the tree's horizon.
static constexpr Picoseconds kLookaheadMax{WinnerTree::kRebasePs / 2};

static bool has_own_instants(const Switch& element) {
  return element.configuration.rocc || element.configuration.aqm || element.port_selector ||
         element.shared_buffer.pause().watchdog_after != kNever;
}

// The links to a switch get neighbouring slots. The largest switches come first, so that each part of the tree
// begins where it must.
void Engine::prepare_running_ahead() {
  runs_ahead_ = world_.ports.size() >= runs_ahead_from_ports_;
  std::vector<std::pair<int, std::uint32_t>> order;  // levels of its part, negative, and number
  for (std::uint32_t n = 0; n < world_.switches.size(); ++n) {
    int levels = 0;
    while ((std::size_t{1} << (2 * levels)) < world_.switches[n].links.size()) ++levels;
    order.emplace_back(-levels, n);
  }
  std::sort(order.begin(), order.end());
  std::uint32_t slot = 0;
  for (const auto& [levels, n] : order) {
    std::uint32_t next = slot;
    for (const std::uint32_t link : world_.switches[n].links) world_.ports[reverse_of(link)].slot = next++;
    slot += std::uint32_t{1} << (-2 * levels);
  }
  for (Port& port : world_.ports) {
    if (port.has(Port::kPeerIsHost)) port.slot = slot++;
  }
  tree_.reset(slot, static_cast<std::uint32_t>(world_.ports.size()));
  for (const auto& [levels, n] : order) {
    Switch& element = world_.switches[n];
    if (element.links.empty()) continue;
    element.part = tree_.part_of(world_.ports[reverse_of(element.links.front())].slot, -levels);
    if (has_own_instants(element)) continue;
    element.lookahead = kLookaheadMax;
    for (const std::uint32_t link : element.links) {
      const Picoseconds delay = world_.speeds[world_.ports[reverse_of(link)].speed].delay;
      element.lookahead = std::min(element.lookahead, delay);
    }
  }
}

// The last instant whose arrivals are known now; before now, for a switch that takes one at a time. The log of
// packets is in the order of time, also within an instant.
inline Picoseconds Engine::may_run_until(const Switch& element) {
  if (is_recording_ || !element.pausing.empty() || element.refreshes != 0) return now_ - Picoseconds{1};
  while (!in_step_at_.empty() && *in_step_at_.begin() <= now_) in_step_at_.erase(in_step_at_.begin());
  Picoseconds end = std::min(now_ + element.lookahead, samplers_.next_queue_sample());
  if (!in_step_at_.empty()) end = std::min(end, *in_step_at_.begin());
  return std::min(end - Picoseconds{1}, horizon_);
}

void Engine::keep_in_step_at(Picoseconds at) {
  require_no_switch_ahead("schedule", at);
  in_step_at_.insert(at);
}

void Engine::require_no_switch_ahead(const char* what, Picoseconds at) const {
  if (ahead_ <= now_ || ahead_ < at) return;
  const auto nanoseconds_of = [](Picoseconds time) { return time.value / kPicosecondsPerNanosecond; };
  throw SimulationError(std::string(what) + ": a switch is ahead: expected a time of at least " +
                        std::to_string(nanoseconds_of(ahead_) + 1) + " ns, got " +
                        std::to_string(nanoseconds_of(at)) +
                        " ns; none is ahead of a callback of schedule(..., in_step=True)");
}

// Something may have left that the port does not know of.
inline bool Engine::has_departed_by(const Port& port, Picoseconds at) const {
  if (port.busy_until > at) return false;
  if (port.has(Port::kClassed) ? !world_.classes_of(port).is_empty() : !port.waiting.empty()) return true;
  return port.has(Port::kOwnerIsHost) && world_.nics[port.owner].may_send_until(at);
}

// The first packet arrives now. The ports that send here are caught up until now, and no further, for their owners
// are not ahead.
void Engine::run_ahead(std::uint32_t link) {
  struct RestoreOnExit {
    Engine& engine;
    const Switch& element;
    Picoseconds began;
    ~RestoreOnExit() {
      engine.tree_.settle(element.part);
      engine.ahead_ = std::max(engine.ahead_, engine.now_);
      engine.now_ = began;
    }
  };
  Switch& element = world_.switches[world_.switch_behind(link)];
  const RestoreOnExit restore{*this, element, now_};
  const WinnerTree::Part part = element.part;
  const Picoseconds until = may_run_until(element);
  if (prefetches_ && until > now_) look_ahead_.before(world_, forwarding_, tree_, part, until);
  for (Picoseconds at = now_;;) {
    Port& port = world_.ports[link];
    if (has_departed_by(port, restore.began)) {
      now_ = restore.began;
      catch_up(port);
      now_ = at;
    }
    const PacketIndex index = take_arrived(port, link);
    if (!port.in_flight.empty() && !port.has(Port::kEager)) [[likely]] {
      const Packet& next = world_.pool[port.in_flight.head];
      world_.pool.prefetch(next.next);
      tree_.set_link_within(part, port.slot, link, next.arrival);
    } else {
      set_slot(link);
    }
    if (world_.pool[index].kind != PacketKind::kPause) [[likely]] {
      arrive_at_switch(link, index);
    } else {
      take_pause_frame(link, index);
    }
    if (!tree_.is_next_an_arrival_in(part) || !element.pausing.empty()) return;
    at = tree_.next_instant_in(part);
    if (at > until) return;
    now_ = at;
    ++events_;
    link = tree_.next_link_in(part);
  }
}

}  // namespace simulator
