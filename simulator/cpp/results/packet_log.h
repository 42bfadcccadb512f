// Log of the packets on recorded links: a row for each packet that reached the far end of a link, and for each that a
// queue in front of it refused. Packets beyond the maximum number of rows are only counted.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/fields.h"
#include "base/units.h"
#include "protocol/packet_kind.h"
#include "protocol/pause_state.h"
#include "reliability/acknowledgement.h"

namespace simulator {

// Fate of a packet. The numbers are those of simulator/packets.py.
enum class PacketFate : std::uint8_t {
  kArrived,
  kLost,          // on the link
  kBuffer,        // no room in front of the link
  kMarker,        // dropped instead of marked
  kWatchdog,      // the port was blocked, or its queue emptied
  kSlowReceiver,  // no room in the NIC
  kExpired,       // after too many links
  kFlooded,       // copies of it continue
  kStray,         // such a copy, which is for another host
  kEvent,         // dropped on purpose, this one
};

// The packet never left the port.
constexpr bool is_refusal(PacketFate fate) {
  return fate == PacketFate::kBuffer || fate == PacketFate::kMarker || fate == PacketFate::kWatchdog;
}

struct PacketLogSettings {
  std::vector<std::uint32_t> links;
  std::vector<std::uint32_t> queue_pairs;  // numbers of either end; empty: all
  Picoseconds from;
  Picoseconds until = kNever;
  std::int64_t packets_max = 0;
};
template <>
struct FieldsOf<PacketLogSettings> {
  using Log = PacketLogSettings;
  static constexpr auto kTable = std::tuple(
      Field{"links", &Log::links}, Field{"queue_pairs", &Log::queue_pairs}, Field{"from_ns", &Log::from},
      Field{"until_ns", &Log::until}, Field{"packets_max", &Log::packets_max});
};

struct PacketRecord {
  // Besides those of PacketFlags, which priorities do not take up here.
  static constexpr std::uint32_t kMarked = 1U << 8;
  static constexpr std::uint32_t kEcnCapable = 1U << 9;
  static constexpr std::uint32_t kHasReduced = 1U << 10;
  static constexpr std::uint32_t kEchoesMark = 1U << 11;
  static constexpr std::uint32_t kNegative = 1U << 12;
  static constexpr std::uint32_t kCorrupt = 1U << 13;

  Picoseconds at;  // it began to leave, or was refused
  std::uint32_t link = 0;
  PacketKind kind{};
  std::uint32_t flags = 0;
  std::uint32_t source = 0;       // queue pair number; 0: none
  std::uint32_t destination = 0;  // queue pair number; 0: none
  std::uint64_t number = 0;
  std::uint32_t frame_bytes = 0;
  Bytes payload{};
  std::uint32_t priority = 0;
  PacketFate fate{};
  Bytes message{};  // length of the verb, if the packet carries it
  std::uint32_t immediate = 0;
  std::array<NumberRange, Acknowledgement::kRangesMax> selective{};  // of packets that have come too

  // Of the usual kinds of packets.
  void take(PacketKind of_kind, std::uint8_t packet_flags, Bytes payload_bytes,
            const PacketDetails& details) {
    flags |= packet_flags | (may_be_marked(of_kind) ? kEcnCapable : 0U);
    payload = payload_bytes;
    const bool is_described = of_kind == PacketKind::kMessage || of_kind == PacketKind::kUnreliable ||
                              of_kind == PacketKind::kReadRequest;
    if (!is_described) return;
    if ((packet_flags & PacketFlags::kFirst) != 0) message = details.length;
    if ((packet_flags & PacketFlags::kImmediate) != 0) immediate = details.immediate;
  }
  void take(const PauseFrame& frame) {
    number = frame.paused;
    flags = frame.priorities;
  }
  void take(const DataPacket& data) {
    number = data.number;
    payload.value = data.is_trimmed ? 0 : std::int64_t{data.payload_bytes};
    if (data.is_first) message = data.message;
    flags |= (data.is_first ? PacketFlags::kFirst : 0U) | (data.is_last ? PacketFlags::kLast : 0U) |
             (data.has_reduced ? kHasReduced : 0U) | (data.is_ecn_capable ? kEcnCapable : 0U);
  }
  void take(const Acknowledgement& acknowledgement) {
    number = acknowledgement.expected;
    payload = {};
    flags |=
        (acknowledgement.is_negative ? kNegative : 0U) | (acknowledgement.echoes_mark ? kEchoesMark : 0U);
    std::copy_n(acknowledgement.selective.begin(), acknowledgement.ranges, selective.begin());
  }
};

template <>
struct FieldsOf<PacketRecord> {
  using Row = PacketRecord;
  static constexpr auto kTable = std::tuple(
      Field{"t_ps", &Row::at}, Field{"link", &Row::link}, Field{"kind", &Row::kind},
      Field{"flags", &Row::flags}, Field{"source", &Row::source}, Field{"destination", &Row::destination},
      Field{"number", &Row::number}, Field{"bytes", &Row::frame_bytes}, Field{"payload_bytes", &Row::payload},
      Field{"priority", &Row::priority}, Field{"fate", &Row::fate}, Field{"message_bytes", &Row::message},
      Field{"immediate", &Row::immediate}, Field{"selective", &Row::selective});
};

class PacketLog {
 public:
  void open(const PacketLogSettings& settings) { settings_ = settings; }

  bool has_link(std::uint32_t link) const { return contains(settings_.links, link); }

  void add(const PacketRecord& record) {
    if (record.at < settings_.from || record.at >= settings_.until) return;
    const bool is_selected = settings_.queue_pairs.empty() || record.kind == PacketKind::kPause ||
                             contains(settings_.queue_pairs, record.source) ||
                             contains(settings_.queue_pairs, record.destination);
    if (!is_selected) return;
    if (static_cast<std::int64_t>(rows.size()) < settings_.packets_max)
      rows.push_back(record);
    else
      ++missed_;
  }

  std::int64_t missed() const { return missed_; }

  std::vector<PacketRecord> rows;

 private:
  static bool contains(const std::vector<std::uint32_t>& numbers, std::uint32_t number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  }

  PacketLogSettings settings_;
  std::int64_t missed_ = 0;
};

}  // namespace simulator
