// Flowlet switching: after a gap a connection continues over a random port.
// Source: Vanini et al., "Let it flow: resilient asymmetric load balancing with flowlet switching", NSDI 2017, section 3.
// Deviation: the table has an entry for each connection, where a switch's hashes several into one.
#pragma once

#include <rogue/switch_control.h>

#include <cstdint>
#include <unordered_map>

class Flowlet final : public rogue::SwitchControl {
 public:
  Flowlet(const rogue::Parameters& parameters, const rogue::Place& place)
      : gap_ps_(parameters.whole("gap_ns") * 1000), random_(place.random_state) {}

  std::uint32_t choose(const rogue::Choice& choice) override {
    const auto [found, is_new] = flows_.try_emplace(choice.packet.flow);
    Flow& flow = found->second;
    if (is_new || choice.now_ps - flow.last_ps > gap_ps_)
      flow.port = static_cast<std::uint32_t>(random_.next_bits() % choice.ports.size());
    flow.last_ps = choice.now_ps;
    return flow.port;
  }

 private:
  struct Flow {
    std::int64_t last_ps = 0;
    std::uint32_t port = 0;
  };

  std::int64_t gap_ps_;
  rogue::Random random_;
  std::unordered_map<std::uint32_t, Flow> flows_;
};

ROGUE_SWITCH_CONTROL(Flowlet, "flowlet", "after a gap a connection goes on over a port that is drawn",
                     {"gap_ns", 50'000, 1, 1e12, "pause after which packets may take another way"});
