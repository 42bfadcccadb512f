// A packet of the eager engine, which carries all that any packet may need.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"
#include "cc/controller.h"
#include "protocol/datagram.h"
#include "protocol/packet_kind.h"
#include "protocol/pause_state.h"
#include "reliability/acknowledgement.h"

namespace simulator::reference {

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

}  // namespace simulator::reference
