// Load balancing "bitmap": entropies go round as in "oblivious", and one that had bad news is passed over as
// many times as the news were bad. Source: uet-htsim, UecMpBitmap: penalties 1, 4 and 15 for a mark, a trimmed
// packet and a timeout, 15 at most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/oblivious_spray.h"
#include "reliability/path_choice.h"

namespace simulator {

class PathBitmap final : public PathChoice {
 public:
  static constexpr std::uint8_t kPenaltyMax = 15;

  PathBitmap(RandomStream stream, std::uint32_t paths) : rounds_(stream, paths), penalties_(paths, 0) {}

  // Only the first path that is passed over has its penalty lowered. When all have one, the last seen goes.
  std::uint32_t next() override {
    std::uint32_t path = rounds_.next();
    if (penalties_[path] == 0) return path;
    --penalties_[path];
    std::size_t seen = 0;
    do path = rounds_.next();
    while (penalties_[path] != 0 && ++seen < penalties_.size());
    return path;
  }

  void on_report(std::uint32_t path, PathReport report, Picoseconds /*now*/) override {
    std::uint8_t& penalty = penalties_[path];
    penalty = std::min<std::uint8_t>(kPenaltyMax, static_cast<std::uint8_t>(penalty + penalty_of(report)));
  }

 private:
  static std::uint8_t penalty_of(PathReport report) {
    switch (report) {
      case PathReport::kGood:
        return 0;
      case PathReport::kMarked:
        return 1;
      case PathReport::kTrimmed:
        return 4;
      case PathReport::kTimeout:
        return kPenaltyMax;
    }
    return 0;
  }

  ObliviousSpray rounds_;
  std::vector<std::uint8_t> penalties_;  // by path
};

}  // namespace simulator
