// Sizes of frames. The numbers come from simulator/framing.py.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "protocol/packet_kind.h"

namespace simulator {

struct Framing {
  std::uint32_t data_overhead_bytes = 0;   // every data packet: Ethernet header to FCS, without payload
  std::uint32_t first_overhead_bytes = 0;  // more on the first packet of a WRITE and on a READ request (RETH)
  std::uint32_t ack_frame_bytes = 0;       // ACK and NAK
  std::uint32_t wire_overhead_bytes = 0;   // preamble, start delimiter and inter-frame gap: not in the frame
  std::uint32_t datagram_overhead_bytes = 0;   // more on a datagram (DETH)
  std::uint32_t immediate_overhead_bytes = 0;  // more on a packet with immediate data (ImmDt)

  constexpr std::uint32_t write_frame_bytes(std::uint32_t payload_bytes, bool is_first) const {
    return payload_bytes + data_overhead_bytes + (is_first ? first_overhead_bytes : 0);
  }
  constexpr std::uint32_t write_payload_bytes(std::uint32_t frame_bytes, bool is_first) const {
    return frame_bytes - data_overhead_bytes - (is_first ? first_overhead_bytes : 0);
  }
  constexpr std::uint32_t datagram_frame_bytes(std::size_t payload_bytes) const {
    return static_cast<std::uint32_t>(payload_bytes) + data_overhead_bytes + datagram_overhead_bytes;
  }
  // Source: InfiniBand architecture, annex A17 (RoCEv2), 17.9: a CNP has 16 reserved bytes.
  constexpr std::uint32_t cnp_frame_bytes() const { return data_overhead_bytes + 16; }
  // Source: RoCC, section 3.2: an ICMP message, which fits into the least frame of Ethernet.
  static constexpr std::uint32_t kFeedbackFrameBytes = 64;
  constexpr Bytes wire_bytes(std::uint32_t frame_bytes) const {
    return {std::int64_t{frame_bytes} + wire_overhead_bytes};
  }

  // Any packet of a connection.
  constexpr std::uint32_t frame_bytes(PacketKind kind, std::uint8_t flags,
                                      std::uint32_t payload_bytes) const {
    return payload_bytes + overhead_bytes(kind, flags);
  }
  constexpr std::uint32_t payload_bytes(PacketKind kind, std::uint8_t flags,
                                        std::uint32_t frame_bytes) const {
    return frame_bytes - overhead_bytes(kind, flags);
  }

 private:
  constexpr std::uint32_t overhead_bytes(PacketKind kind, std::uint8_t flags) const {
    const bool is_first = (flags & PacketFlags::kFirst) != 0;
    const bool is_edge = is_first || (flags & PacketFlags::kLast) != 0;
    switch (kind) {
      case PacketKind::kAck:
      case PacketKind::kNak:
        return ack_frame_bytes;
      case PacketKind::kReadResponse:  // the first and the last one carry an AETH, as an ACK does
        return is_edge ? ack_frame_bytes : data_overhead_bytes;
      case PacketKind::kReadRequest:
        return data_overhead_bytes + first_overhead_bytes;
      case PacketKind::kDatagram:
        return data_overhead_bytes + datagram_overhead_bytes;
      case PacketKind::kWrite:
      case PacketKind::kData:
      case PacketKind::kAcknowledgement:
      case PacketKind::kMessage:
      case PacketKind::kUnreliable:
      case PacketKind::kCnp:
      case PacketKind::kFeedback:
      case PacketKind::kStray:
      case PacketKind::kPause:
        break;
    }
    const bool has_reth = is_first && (flags & PacketFlags::kSend) == 0;
    const bool has_immediate = (flags & PacketFlags::kImmediate) != 0;
    return data_overhead_bytes + (has_reth ? first_overhead_bytes : 0) +
           (has_immediate ? immediate_overhead_bytes : 0);
  }
};

}  // namespace simulator
