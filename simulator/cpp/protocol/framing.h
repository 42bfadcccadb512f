// Sizes of frames. The numbers come from simulator/framing.py.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace simulator {

struct Framing {
  std::uint32_t data_overhead_bytes = 0;   // every data packet: Ethernet header to FCS, without payload
  std::uint32_t first_overhead_bytes = 0;  // more on the first packet of a WRITE (RETH)
  std::uint32_t ack_frame_bytes = 0;       // ACK and NAK
  std::uint32_t wire_overhead_bytes = 0;   // preamble, start delimiter and inter-frame gap: not in the frame
  std::uint32_t datagram_overhead_bytes = 0;  // more on a datagram (DETH)

  constexpr std::uint32_t write_frame_bytes(std::uint32_t payload_bytes, bool is_first) const {
    return payload_bytes + data_overhead_bytes + (is_first ? first_overhead_bytes : 0);
  }
  constexpr std::uint32_t write_payload_bytes(std::uint32_t frame_bytes, bool is_first) const {
    return frame_bytes - data_overhead_bytes - (is_first ? first_overhead_bytes : 0);
  }
  constexpr std::uint32_t datagram_frame_bytes(std::size_t payload_bytes) const {
    return static_cast<std::uint32_t>(payload_bytes) + data_overhead_bytes + datagram_overhead_bytes;
  }
  constexpr Bytes wire_bytes(std::uint32_t frame_bytes) const {
    return {std::int64_t{frame_bytes} + wire_overhead_bytes};
  }
};

}  // namespace simulator
