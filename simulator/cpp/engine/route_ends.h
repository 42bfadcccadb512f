// The ends of routes that lead to no host: packets expire in a loop, or a switch floods them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/world.h"

namespace simulator {

class Engine;

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
