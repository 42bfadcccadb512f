// What switches tell senders: fair rates in packets of their own, and telemetry in packets of data.
#pragma once

#include <cstdint>

#include "engine/packet_table.h"
#include "engine/world.h"

namespace simulator {

class Engine;

class Feedback {
 public:
  Feedback(Engine& engine, World& world)
      : engine_(engine), world_(world), fair_rates_(world.pool), telemetry_(world.pool) {}

  // RoCC's congestion points: something waits at a port that has one, and its period is over.
  void watch(const ClassedPort& classes);
  void on_timer(std::uint32_t link);
  FairRate fair_rate_of(PacketIndex index) { return fair_rates_[index]; }

  // A packet sets out without telemetry, begins to leave a port of a switch, arrives, and is acknowledged.
  void open_telemetry(PacketIndex index) { telemetry_[index].hops = 0; }
  void write_telemetry(const Port& port, PacketIndex index, Picoseconds start);
  CarriedTelemetry carried_telemetry(std::uint32_t qp, PacketIndex index);
  void carry_telemetry(PacketIndex index, const Telemetry& telemetry) { telemetry_[index] = telemetry; }

 private:
  void tell_sources(std::uint32_t link, std::uint32_t priority, BitsPerSecond rate);
  void send(std::uint32_t link, std::uint32_t qp, BitsPerSecond rate);

  Engine& engine_;
  World& world_;
  PacketTable<FairRate> fair_rates_;  // of those that are kFeedback
  PacketTable<Telemetry> telemetry_;  // of queue pairs whose control wants it
};

}  // namespace simulator
