// Credit that receivers grant to their senders: each host has a pacer for all of its queue pairs that grant credit,
// or a control from outside.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/configuration.h"
#include "cc/switch_control.h"
#include "engine/world.h"
#include "reliability/credits.h"

namespace simulator {

class Engine;

class Credits {
 public:
  Credits(Engine& engine, World& world) : engine_(engine), world_(world) {}

  void add(std::uint32_t qp, const ConnectionConfiguration& configuration);
  void on_arrival(std::uint32_t qp, std::optional<rogue::Received>& received);
  void on_timer(std::uint32_t nic);
  void check() const;

  // A plug-in sees the packets that arrive for this queue pair.
  bool reports_arrivals(std::uint32_t qp) const {
    return !numbers_.empty() && world_.senders[qp].has_credits && hosts_.at(world_.senders[qp].nic).control;
  }

  // Number of queue pairs with packets in the sender's NIC.
  std::int64_t rivals_of(const Sender& sender) const;

 private:
  struct Host {
    CreditPacer pacer;
    std::uint32_t timer;
    std::unique_ptr<ReceiverControl> control;  // in the place of the pacer
    std::vector<std::uint32_t> connections;    // queue pairs, by the numbers that it knows

    Picoseconds deadline() const { return control ? control->deadline() : pacer.deadline(); }
  };

  void grant_what_is_due(std::uint32_t nic);
  void grant_turn(Host& host);
  void call_control(Host& host);

  Engine& engine_;
  World& world_;
  std::unordered_map<std::uint32_t, Host> hosts_;  // by NIC; nothing goes through them in order
  std::vector<std::uint32_t> numbers_;             // of queue pairs at their hosts, where these have controls
};

}  // namespace simulator
