// Congestion controls of queue pairs, and the feedback that they get.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cc/controller.h"
#include "engine/packet_pool.h"
#include "engine/world.h"
#include "reliability/acknowledgement.h"

namespace simulator {

class Engine;

// A queue pair with a congestion control in its NIC, which also sends CNPs for marks.
struct ControlledQueuePair {
  std::unique_ptr<Controller> controller;
  std::uint32_t timer = 0;
  std::uint8_t cnp_flags = 0;  // their priority
  BitsPerSecond line_rate;
  BitsPerSecond rate;                // that the limiter has; 0 = no limit
  std::uint64_t window = kNoWindow;  // that the requester has
  std::uint32_t feedback_route = 0;  // in the table of routes: the queue pair's route, backwards
  std::uint32_t route_links = 0;
  Picoseconds next_cnp;          // none is sent before
  std::uint64_t recoveries = 0;  // of a queue pair without a Reliability: one for each NAK
  std::int64_t cnps_sent = 0;
  std::int64_t cnps_received = 0;

  BitsPerSecond limited_rate() const {
    const BitsPerSecond wanted = controller->rate();
    return wanted < line_rate ? wanted : BitsPerSecond{};
  }
};

class NicControls {
 public:
  NicControls(Engine& engine, World& world) : engine_(engine), world_(world), stamps_(world.pool) {}

  void add(std::uint32_t qp, const ConnectionConfiguration& configuration);
  void add_feedback_route(std::uint32_t qp, const std::vector<std::uint32_t>& route);

  bool has(std::uint32_t qp) const { return world_.senders[qp].is_controlled; }
  const ControlledQueuePair& of(std::uint32_t qp) const { return queue_pairs_[qp]; }
  void require_none(std::uint32_t qp, const char* what) const;  // host software must not set its rate
  void require_none_uses(std::uint32_t limiter, const char* what) const;
  BitsPerSecond rate_of(std::uint32_t qp) const {
    return has(qp) ? queue_pairs_[qp].controller->rate() : BitsPerSecond{};
  }
  std::map<std::uint32_t, Metrics> metrics();  // by number of queue pair

  // Departures and arrivals.
  void on_sent(std::uint32_t qp, PacketIndex index, Picoseconds start);
  void on_marked(PacketIndex index);
  void send_cnp(std::uint32_t qp);  // to its peer, but not too often
  void copy(PacketIndex from, PacketIndex to) { stamps_[to] = Stamp{stamps_[from]}; }
  void on_cnp(PacketIndex index);
  void on_feedback(PacketIndex index);
  void on_reply_to_controlled(const Packet& packet, PacketIndex index);
  void on_acknowledgement(std::uint32_t qp, const Acknowledgement& acknowledgement,
                          const CarriedTelemetry& telemetry);
  void on_timer(std::uint32_t qp);
  void update_timer(std::uint32_t qp);

 private:
  Picoseconds& next_cnp(std::uint32_t qp);
  Controller& up_to_date_controller(std::uint32_t qp);
  void set_unreported_max(std::uint32_t qp);
  bool apply_decision(std::uint32_t qp, Picoseconds at);
  bool apply_window(std::uint32_t qp);

  Engine& engine_;
  World& world_;
  std::vector<ControlledQueuePair> queue_pairs_;  // by number, if any has a control
  std::map<std::pair<std::uint32_t, std::uint32_t>, Picoseconds> next_cnps_;  // see next_cnp()
  PacketTable<Stamp> stamps_;  // if any control wants acknowledgements
};

// Feedback from switches to senders: fair rates in separate packets, and telemetry in data packets.
class Feedback {
 public:
  Feedback(Engine& engine, World& world)
      : engine_(engine), world_(world), fair_rates_(world.pool), telemetry_(world.pool) {}

  // RoCC's congestion points: something waits at a port that has one, and its period is over.
  void start_period(const ClassedPort& classes);
  void on_timer(std::uint32_t link);
  FairRate fair_rate_of(PacketIndex index) { return fair_rates_[index]; }

  // A packet sets out without telemetry, begins to leave a port of a switch, arrives, and is acknowledged.
  void open_telemetry(PacketIndex index) { telemetry_[index].hops = 0; }
  void write_telemetry(const Port& port, PacketIndex index, Picoseconds start);
  CarriedTelemetry carried_telemetry(std::uint32_t qp, PacketIndex index);
  void copy(PacketIndex from, PacketIndex to) { telemetry_[to] = Telemetry{telemetry_[from]}; }
  void carry_telemetry(PacketIndex index, const Telemetry& telemetry) { telemetry_[index] = telemetry; }

 private:
  void send_fair_rates(std::uint32_t link, std::uint32_t priority, BitsPerSecond rate);
  void send(std::uint32_t link, std::uint32_t qp, BitsPerSecond rate);

  Engine& engine_;
  World& world_;
  PacketTable<FairRate> fair_rates_;  // of those that are kFeedback
  PacketTable<Telemetry> telemetry_;  // of queue pairs whose control wants it
};

}  // namespace simulator
