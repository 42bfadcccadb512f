// One packet of a flow, and what happens to it at the far end of the link that it leaves its NIC on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/fields.h"
#include "base/units.h"
#include "protocol/packet_kind.h"

namespace simulator {

// The numbers of these two are those of simulator/packet_events.py.
enum class PacketClass : std::uint8_t { kData, kReadRequest, kAck, kNak, kCnp, kDatagram, kOther };
enum class PacketAction : std::uint8_t { kDrop, kMark, kCorrupt, kDelay, kDuplicate, kReorder };

constexpr PacketClass class_of(PacketKind kind, bool is_negative) {
  if (carries_data(kind)) return PacketClass::kData;
  switch (kind) {
    case PacketKind::kReadRequest:
      return PacketClass::kReadRequest;
    case PacketKind::kAck:
      return PacketClass::kAck;
    case PacketKind::kNak:
      return PacketClass::kNak;
    case PacketKind::kAcknowledgement:
      return is_negative ? PacketClass::kNak : PacketClass::kAck;
    case PacketKind::kCnp:
      return PacketClass::kCnp;
    case PacketKind::kDatagram:
      return PacketClass::kDatagram;
    default:
      return PacketClass::kOther;
  }
}

struct PacketEvent {
  static constexpr std::string_view kName = "packet_event";
  std::uint32_t host = 0;                    // that sends the packet
  std::vector<std::uint32_t> queue_pairs{};  // numbers of those of its flow
  PacketClass packet = PacketClass::kData;
  std::optional<std::uint64_t> psn{};  // as in the table of packets; none: any
  std::uint64_t transmission = 1;      // of the packets that match, counted from 1
  PacketAction action = PacketAction::kDrop;
  Picoseconds delay{};        // kDelay
  std::uint32_t packets = 0;  // kDuplicate: copies; kReorder: later packets that go first
};
template <>
struct FieldsOf<PacketEvent> {
  using Event = PacketEvent;
  static constexpr auto kTable = std::tuple(
      Field{"host", &Event::host}, Field{"queue_pairs", &Event::queue_pairs}, Field{"packet", &Event::packet},
      Field{"psn", &Event::psn}, Field{"transmission", &Event::transmission}, Field{"action", &Event::action},
      Field{"delay_ns", &Event::delay}, Field{"packets", &Event::packets});
};

struct PacketIdentity {
  std::uint32_t source;  // number of the queue pair that sent it
  PacketClass packet;
  std::uint64_t number;
};

// Counts the packets that match an event.
class PacketWatch {
 public:
  explicit PacketWatch(const PacketEvent& event) : event_(event) {}

  const PacketEvent& event() const { return event_; }
  Picoseconds struck() const { return struck_; }  // kNever: not yet

  // A packet has come: whether it is the one.
  bool strikes(const PacketIdentity& packet, Picoseconds now) {
    if (packet.packet != event_.packet || !is_of_flow(packet)) return false;
    if (event_.psn && *event_.psn != packet.number) return false;
    if (++seen_ != event_.transmission) return false;
    struck_ = now;
    return true;
  }

  bool is_of_flow(const PacketIdentity& packet) const {
    return std::find(event_.queue_pairs.begin(), event_.queue_pairs.end(), packet.source) !=
           event_.queue_pairs.end();
  }

  // A packet of the flow has passed the one that is held: whether it was the last that may.
  bool is_overtaken() { return ++passed_ == event_.packets; }

 private:
  PacketEvent event_;
  std::uint64_t seen_ = 0;
  Picoseconds struck_ = kNever;
  std::uint32_t passed_ = 0;
};

// What the events that struck one packet do to it.
struct PacketTreatment {
  bool is_dropped = false;
  bool is_marked = false;
  bool is_corrupt = false;
  std::uint32_t copies = 0;
  std::optional<std::size_t> holder{};  // number of the event that holds it

  void add(std::size_t number, const PacketEvent& event) {
    is_dropped |= event.action == PacketAction::kDrop;
    is_marked |= event.action == PacketAction::kMark;
    is_corrupt |= event.action == PacketAction::kCorrupt;
    if (event.action == PacketAction::kDuplicate) copies += event.packets;
    const bool holds = event.action == PacketAction::kDelay || event.action == PacketAction::kReorder;
    if (holds && !holder) holder = number;
  }
};

}  // namespace simulator
