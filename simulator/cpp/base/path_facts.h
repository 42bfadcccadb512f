// What the NIC at one end of a connection knows of the way to the other end before anything is sent.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace simulator {

struct PathFacts {
  BitsPerSecond line_rate;  // of its own link
  Picoseconds base_rtt;     // of a full packet and its acknowledgement, while nothing else is on the way
  Bytes mtu;                // payload of a full packet
  Bytes packet;             // what a full packet occupies on the wire
  std::uint32_t hops = 0;   // switches on the way there
};

}  // namespace simulator
