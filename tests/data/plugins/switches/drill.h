// DRILL: of a few ports that are drawn, and the best one of last time, the one where least waits.
// Source: Ghorbani et al., "DRILL: micro load balancing for low-latency data center networks", SIGCOMM 2017, section 3.2.
// Deviation: the port of last time is remembered for each group of equal ports, by its first port.
#pragma once

#include <rogue/switch_control.h>

#include <cstdint>
#include <map>

class Drill final : public rogue::SwitchControl {
 public:
  static constexpr bool wants_queues = true;

  Drill(const rogue::Parameters& parameters, const rogue::Place& place)
      : drawn_(parameters.whole("drawn")), random_(place.random_state) {}

  std::uint32_t choose(const rogue::Choice& choice) override {
    const auto count = static_cast<std::uint32_t>(choice.ports.size());
    std::uint32_t& best = best_of_[choice.ports.front().number];
    if (best >= count) best = 0;
    for (std::int64_t n = 0; n < drawn_; ++n) {
      const auto other = static_cast<std::uint32_t>(random_.next_bits() % count);
      if (load(choice.ports[other]) < load(choice.ports[best])) best = other;
    }
    return best;
  }

 private:
  // What waits, and half a packet for what is on its way out.
  static std::int64_t load(const rogue::EqualPort& port) {
    return port.queue_bytes + (port.is_sending != 0 ? 500 : 0);
  }

  std::int64_t drawn_;
  rogue::Random random_;
  std::map<std::uint32_t, std::uint32_t> best_of_;
};

ROGUE_SWITCH_CONTROL(Drill, "drill", "DRILL: the shortest queue of a few that are drawn, for each packet",
                     {"drawn", 2, 1, 64, "ports that are drawn for a packet"});
