// Faults of links during a run, and routes that end in none.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/world.h"
#include "protocol/fault.h"
#include "protocol/responders.h"

namespace simulator {

// Injected faults: cut links, NICs that pause their switch because they are broken or receive slowly, and the switch
// watchdogs that end such pauses.

class Engine;

class Faults {
 public:
  Faults(Engine& engine, World& world) : engine_(engine), world_(world) {}

  void inject(const Fault& fault);

  bool is_received(std::uint32_t link, PacketIndex index);
  void on_receive_timer(std::uint32_t host);

  void watch_pauses(std::uint32_t link);
  void on_watchdog_timer(std::uint32_t link);

 private:
  struct Injection;  // what each fault does

  struct Receiver {
    ReceiveBuffer buffer;
    std::uint32_t timer;
  };

  void pause_switch(std::uint32_t host, bool is_pausing);
  void empty_queue(std::uint32_t link, std::uint32_t priority);

  Engine& engine_;
  World& world_;
  std::map<std::uint32_t, Receiver> slow_receivers_;  // by host
};

// The ends of routes that lead to no host: packets expire in a loop, or a switch floods them.
class RouteEnds {
 public:
  RouteEnds(Engine& engine, World& world) : engine_(engine), world_(world) {}

  void prepare(const std::vector<std::uint32_t>& route);
  bool on_arrival(std::uint32_t link, PacketIndex index);

 private:
  void flood(std::uint32_t link, PacketIndex index);

  Engine& engine_;
  World& world_;
  std::map<std::uint32_t, std::uint32_t> floods_;  // by link: first entry of the routes of what is flooded
};

}  // namespace simulator
