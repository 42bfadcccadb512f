// What stands at the end of a route that leads to no host, instead of a link's number.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace simulator {

// The packet has made as many hops as it may: RFC 791, section 3.2 (time to live).
inline constexpr std::uint32_t kExpires = std::numeric_limits<std::uint32_t>::max();
// The switch does not know where the destination is and sends a copy out of every other port: Guo et al.,
// "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2.
inline constexpr std::uint32_t kFloods = kExpires - 1;

constexpr bool is_route_end(std::uint32_t link) {
  return link >= kFloods;
}

}  // namespace simulator
