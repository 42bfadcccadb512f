// What receivers grant to their senders: each host has a pacer for all of its queue pairs that grant credit.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "engine/world.h"
#include "reliability/credit_pacer.h"

namespace simulator {

class Engine;

class Credits {
 public:
  Credits(Engine& engine, World& world) : engine_(engine), world_(world) {}

  void add(std::uint32_t qp);
  void follow(std::uint32_t qp);
  void on_timer(std::uint32_t nic);
  void check() const;

  // How many queue pairs have packets in the sender's NIC.
  std::int64_t rivals_of(const Sender& sender) const;

 private:
  struct Host {
    CreditPacer pacer;
    std::uint32_t timer;
  };

  void grant_what_is_due(std::uint32_t nic);
  void give_turn(Host& host);

  Engine& engine_;
  World& world_;
  std::unordered_map<std::uint32_t, Host> hosts_;  // by NIC; nothing goes through them in order
};

}  // namespace simulator
