// Events of single packets, at the far end of the link that they leave their NIC on.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/packet.h"
#include "engine/world.h"
#include "protocol/packet_event.h"

namespace simulator {

class Engine;

class PacketEvents {
 public:
  PacketEvents(Engine& engine, World& world) : engine_(engine), world_(world) {}

  void add(const PacketEvent& event);
  void on_arrival(std::uint32_t link, PacketIndex index);
  void on_timer(std::uint32_t number);

  // When each event struck its packet, in the order of add(); kNever: it has not.
  std::vector<Picoseconds> times() const;

 private:
  struct Watch {
    PacketWatch packet;
    std::uint32_t link;
    std::uint32_t timer;  // of a delay
    PacketIndex held = kNoPacket;
  };

  PacketIdentity identify(PacketIndex index);
  PacketIndex copy(PacketIndex index);
  void hold(Watch& watch, PacketIndex index);
  void release(Watch& watch);
  void release_overtaken(std::uint32_t link, const PacketIdentity& passing);

  Engine& engine_;
  World& world_;
  std::vector<Watch> watches_;
};

}  // namespace simulator
