// What two ends of a connection tell each other that repairs losses in a way of its own.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"

namespace simulator {

// A packet with bytes of a verb. Packets of a connection are numbered from 0 on, in posting order.
struct DataPacket {
  std::uint64_t number = 0;
  std::uint32_t payload_bytes = 0;
  bool is_first = false;  // of its verb
  bool is_last = false;
  bool has_reduced = false;    // its sender has taken notice of marks (CWR)
  bool is_ecn_capable = true;  // switches may mark it
  Bytes message{};             // length of its verb
  Picoseconds sent;            // it began to leave then
};

struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  // one past the last
};

struct Acknowledgement {
  static constexpr std::uint32_t kRangesMax = 3;

  std::uint64_t expected = 0;                       // every packet below has come
  std::array<NumberRange, kRangesMax> selective{};  // these have come too
  std::uint32_t ranges = 0;
  bool is_negative = false;
  bool echoes_mark = false;  // of congestion
  Picoseconds echoed;        // `sent` of the packet that is acknowledged

  void add(const NumberRange& range) { selective[ranges++] = range; }
};

}  // namespace simulator
