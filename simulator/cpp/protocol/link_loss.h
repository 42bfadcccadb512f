// Why packets do not reach the far end of a directed link.
#pragma once

#include <algorithm>
#include <vector>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "base/units.h"

namespace simulator {

class LinkLoss {
 public:
  LinkLoss(double probability, RandomStream stream) : probability_(probability), stream_(stream) {}

  // The cable carries nothing from `start` until `end`.
  void cut(Picoseconds start, Picoseconds end) { cuts_.push_back({start, end}); }

  bool is_possible() const { return probability_ > 0 || !cuts_.empty(); }

  // Asked once for each packet, when it would arrive. A packet that was under way during a cut is lost.
  bool loses(Picoseconds sent, Picoseconds arrival) {
    const auto hits = [&](const Cut& cut) { return sent < cut.end && arrival >= cut.start; };
    if (std::any_of(cuts_.begin(), cuts_.end(), hits)) return true;
    return probability_ > 0 && stream_.next_fraction() < probability_;
  }

 private:
  struct Cut {
    Picoseconds start;
    Picoseconds end;
  };

  double probability_;
  RandomStream stream_;
  std::vector<Cut> cuts_;
};

}  // namespace simulator
