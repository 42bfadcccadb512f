// Builds the nodes and links of a world, each with its timers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/configuration.h"
#include "engine/timer_queue.h"
#include "engine/world.h"

namespace simulator {

class Builder {
 public:
  Builder(World& world, TimerQueue& timers) : world_(world), timers_(timers) {}

  std::uint32_t add_host(const std::string& name, const NicProfile& profile);
  std::uint32_t add_switch(const std::string& name, const SwitchConfiguration& configuration);
  std::uint32_t add_link(std::uint32_t a, std::uint32_t b, const LinkConfiguration& configuration);
  std::uint32_t add_limiter(Nic& nic);

 private:
  std::uint16_t speed_index(const LinkConfiguration& configuration);
  void add_port(std::uint32_t from, std::uint32_t to, const LinkConfiguration& configuration, Bytes headroom);
  void add_classes(Port& port, std::uint32_t from, std::uint32_t to, Bytes headroom);
  void add_input(Switch& element, ClassedPort& classes, IngressAccount& ingress);

  World& world_;
  TimerQueue& timers_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint16_t> speeds_;  // by rate and delay
};

}  // namespace simulator
