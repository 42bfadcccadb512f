// Times of host software are nanoseconds, the engine's are picoseconds.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/check.h"
#include "base/units.h"

namespace simulator {

inline Picoseconds to_picoseconds(std::int64_t host_ns) {
  constexpr std::int64_t kMaxNs = std::numeric_limits<std::int64_t>::max() / kPicosecondsPerNanosecond / 2;
  if (host_ns < 0 || host_ns > kMaxNs) {
    throw SimulationError("expected a time from 0 to " + std::to_string(kMaxNs) + " ns (53 days), got " +
                          std::to_string(host_ns) + " ns");
  }
  return {host_ns * kPicosecondsPerNanosecond};
}

}  // namespace simulator
