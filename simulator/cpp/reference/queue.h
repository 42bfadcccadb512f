// What waits at a port of the eager engine, of one priority.
#pragma once

#include <cstdint>
#include <deque>

#include "reference/packet.h"

namespace simulator::reference {

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

}  // namespace simulator::reference
