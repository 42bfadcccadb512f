// Thresholds of a switch that are in proportion to the rates of its ports: a queue of a slow port is as long in
// time as one of a fast port. Source: uet-htsim, datacenter/fat_tree_topology.cpp (alloc_queue, commit 40ccb05),
// whose slow links trim and mark at their share of the bytes.
#pragma once

#include <vector>

#include "base/configuration.h"

namespace simulator {

// What is stated for a port of `stated_at`, at a port of `rate`; as stated if that is zero.
inline Bytes at_rate(Bytes threshold, BitsPerSecond rate, BitsPerSecond stated_at) {
  if (stated_at.value == 0 || rate == stated_at) return threshold;
  const double share = static_cast<double>(rate.value) / static_cast<double>(stated_at.value);
  return {static_cast<std::int64_t>(static_cast<double>(threshold.value) * share)};
}

inline TrimmingConfiguration at_rate(TrimmingConfiguration trimming, BitsPerSecond rate,
                                     BitsPerSecond stated_at) {
  if (trimming.above) trimming.above = at_rate(*trimming.above, rate, stated_at);
  return trimming;
}

inline std::vector<MarkingConfiguration> at_rate(std::vector<MarkingConfiguration> markings,
                                                 BitsPerSecond rate, BitsPerSecond stated_at) {
  for (MarkingConfiguration& marking : markings) {
    marking.minimum = at_rate(marking.minimum, rate, stated_at);
    marking.maximum = at_rate(marking.maximum, rate, stated_at);
  }
  return markings;
}

}  // namespace simulator
