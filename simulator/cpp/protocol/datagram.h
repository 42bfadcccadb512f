// A message of an unreliable datagram queue pair: one packet, with its bytes.
#pragma once

#include <cstdint>
#include <string>

namespace simulator {

struct Datagram {
  std::uint32_t source;  // queue pair
  std::uint32_t destination;
  std::uint32_t route;  // as numbered by the engine
  std::uint64_t wr_id;
  std::string payload;
};

}  // namespace simulator
