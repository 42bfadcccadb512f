// Queue pairs with a Reliability instead of the usual go-back-N.
#pragma once

#include <cstdint>

#include "engine/packet_pool.h"
#include "engine/world.h"

namespace simulator {

class Engine;

class Reliabilities {
 public:
  Reliabilities(Engine& engine, World& world)
      : engine_(engine), world_(world), data_packets_(world.pool), acknowledgements_(world.pool) {}

  void add(std::uint32_t qp, const ConnectionConfiguration& configuration);
  void require_resettable(std::uint32_t qp) const;
  void spray(std::uint32_t qp, const RandomStream& stream, std::uint32_t paths);

  void post(std::uint32_t qp, const Verb& verb);
  PacketIndex send(std::uint32_t qp, Port& port, Picoseconds start);
  void on_data(PacketIndex index);
  void on_acknowledgement(PacketIndex index);
  void on_timer(std::uint32_t qp);
  void send_acknowledgements(std::uint32_t qp, const CarriedTelemetry& telemetry);
  void check_trimmed();
  DataPacket& data_of(PacketIndex index) { return data_packets_[index]; }
  [[gnu::always_inline]] void prefetch(PacketIndex index, PacketKind kind) const {
    if (kind == PacketKind::kData) data_packets_.prefetch(index);
    if (kind == PacketKind::kAcknowledgement) acknowledgements_.prefetch(index);
  }
  void copy(PacketIndex from, PacketIndex to) {
    const PacketKind kind = world_.pool[from].kind;
    if (kind == PacketKind::kData) data_packets_[to] = DataPacket{data_packets_[from]};
    if (kind == PacketKind::kAcknowledgement)
      acknowledgements_[to] = Acknowledgement{acknowledgements_[from]};
  }
  const Acknowledgement& acknowledgement_of(PacketIndex index) { return acknowledgements_[index]; }

 private:
  std::uint32_t first_position(std::uint32_t qp, Requester& requester, DataPacket& packet);
  void update_requester_deadline(std::uint32_t qp);
  void update_responder_deadline(std::uint32_t qp);
  void set_deadline_timer(std::uint32_t qp, Reliability& own);
  double slowness_of(const Sender& sender) const;
  template <class Apply>
  void change_requester(std::uint32_t qp, Apply&& apply);

  Engine& engine_;
  World& world_;
  PacketTable<DataPacket> data_packets_;           // of those that are kData
  PacketTable<Acknowledgement> acknowledgements_;  // of those that are
};

}  // namespace simulator
