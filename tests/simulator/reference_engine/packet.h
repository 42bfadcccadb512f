// Packets, queues and links of the reference engine.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "base/units.h"
#include "cc/controller.h"
#include "cc/rocc.h"
#include "cc/switch_control.h"
#include "protocol/fault.h"
#include "protocol/marker.h"
#include "protocol/packet_kind.h"
#include "protocol/pause_state.h"
#include "protocol/queue_pair.h"
#include "protocol/response_queue.h"
#include "protocol/shared_buffer.h"
#include "reliability/acknowledgement.h"

namespace simulator::reference {

// A packet of the eager engine, which carries all that any packet may need.

using Route = std::shared_ptr<const std::vector<std::uint32_t>>;

struct Packet {
  PacketKind kind;
  std::uint32_t from;  // queue pair that sent it
  std::uint32_t hop;   // how many links of its route lie behind it
  std::uint32_t psn;
  std::uint32_t frame_bytes;
  std::uint8_t flags;
  PacketDetails details;
  std::shared_ptr<const Datagram> datagram{};
  std::uint16_t ip_id = 0;
  std::uint32_t priority = 0;
  bool is_marked = false;
  bool is_corrupt = false;
  std::uint32_t stray_route = 0;  // of a stray
  DataPacket data{};
  std::shared_ptr<const Acknowledgement> acknowledgement{};
  Picoseconds sent = kNever;  // data: when it began to leave its NIC; replies: that of what they acknowledge
  bool acknowledges_marked = false;  // a reply: what it acknowledges came marked
  std::vector<HopRecord> hops{};
  Picoseconds request_took{};  // to get here, if this is a response to a READ
  FairRate fair_rate{};        // of a kFeedback
  PauseFrame pause_frame{};    // of a kPause
  Picoseconds queued{};        // when it came to the port that it is at

  bool can_be_trimmed() const { return kind == PacketKind::kData && data.can_be_trimmed(); }
  Route route{};  // but of strays: as it was when it came to its NIC
  bool is_sprayed = false;
};

// Queue of one priority at a port of the eager engine.

struct Queue {
  std::deque<Packet> waiting{};
  std::int64_t bytes = 0;
  std::int64_t bytes_max = 0;
  std::int64_t drops = 0;
  std::int64_t drops_sampled = 0;
  std::int64_t marks = 0;
  std::int64_t marks_sampled = 0;
  std::uint32_t turn = 0;  // in an input-queued switch: that of this link, or of the next one behind it

  void mark(Packet& packet) {
    packet.is_marked = true;
    ++marks;
  }
};

// A direction of a link of the eager engine, with the port that sends on it.

struct Link {
  std::uint32_t from;
  std::uint32_t to;
  LinkConfiguration configuration;
  LinkLoss loss;
  std::array<Queue, kPriorities> queues{};  // without classes only the first one is in use
  bool has_classes = false;
  std::optional<Marker> marker{};
  std::optional<RoccPort> rocc{};
  std::optional<WeightedTurns> turns{};
  std::optional<TrimmingConfiguration> trimming{};
  std::optional<RandomStream> trimming_coin{};
  std::shared_ptr<SwitchControl> aqm{};
  std::int64_t trimmed_packets = 0;
  std::int64_t trimmed_bytes = 0;
  bool is_busy = false;
  bool is_pause_frame_due = false;
  PauseState pauses{};
  IngressAccount ingress{};
  std::optional<SharedBuffer> input{};  // of an input-queued switch: what holds what came in over it
  std::uint32_t refresh_timer = 0;
  std::uint32_t watchdog_timer = 0;
  PriorityMask blocked = 0;
  std::int64_t watchdog_fired = 0;
  std::int64_t sent_bytes = 0;
  Bytes sent_on_wire{};
  std::int64_t received_bytes = 0;
  std::int64_t lost_packets = 0;
  std::int64_t pause_frames = 0;
  std::int64_t lossless_drops = 0;
  bool has_route_end = false;
  std::int64_t expired_packets = 0;
  std::int64_t stray_packets = 0;
};

}  // namespace simulator::reference
