// What goes wrong on purpose: links that are cut, NICs that pause their switch, for they break or take packets
// in slowly, and watchdogs in switches that end that.
#pragma once

#include <cstdint>
#include <map>

#include "engine/world.h"
#include "protocol/fault.h"
#include "protocol/receive_buffer.h"

namespace simulator {

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

}  // namespace simulator
