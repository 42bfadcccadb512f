// What a simulation is built from. Values are checked in simulator/parameters.py before they come here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace simulator {

struct NicProfile {
  std::uint32_t limiters = 0;  // 0 = one for each queue pair
  BitsPerSecond rate_step;     // requested rates are rounded up to a multiple; 0 = exact
  Bytes actuation_lag_max;     // wire bytes that still leave at the old rate, at most
  double clock_drift_ppm_max = 0;
  bool clock_offset_random = false;
};

struct SwitchConfiguration {
  std::optional<Bytes> buffer;  // none = unbounded
  double alpha = 1.0;           // a port may hold alpha * (free buffer)
};

struct LinkConfiguration {
  BitsPerSecond rate;
  Picoseconds delay;
  double loss_probability = 0;
};

struct ConnectionConfiguration {
  std::uint32_t host_a = 0;
  std::uint32_t host_b = 0;
  std::vector<std::uint32_t> route_ab;  // directed link numbers, first to last
  std::vector<std::uint32_t> route_ba;
  std::uint32_t mtu_bytes = 0;
  std::uint32_t ack_every_packets = 0;
  std::uint32_t retry_count = 0;
  std::uint32_t timeout_exponent = 0;         // 0 = never
  bool is_unreliable = false;                 // type UC instead of RC
  std::optional<std::uint32_t> limiter_of{};  // a queue pair of either host that lends its pair's limiters
};

}  // namespace simulator
