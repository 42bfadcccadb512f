// How a sender chooses the entropy of its next packet, and what it learns from those that were answered. The
// four ways are those of uet-htsim (uec_mp.cpp, commit 40ccb05).
#pragma once

#include <cstdint>

#include "base/units.h"

namespace simulator {

// What became of a packet: it came, it came marked, its payload was cut off, or nothing was heard of it.
enum class PathReport : std::uint8_t { kGood, kMarked, kTrimmed, kTimeout };

class PathChoice {
 public:
  PathChoice() = default;
  PathChoice(const PathChoice&) = delete;
  PathChoice& operator=(const PathChoice&) = delete;
  virtual ~PathChoice() = default;

  // From 0 to the number of paths - 1.
  virtual std::uint32_t next() = 0;
  // Of a kTimeout the path is not known.
  virtual void on_report(std::uint32_t path, PathReport report, Picoseconds now) = 0;
};

}  // namespace simulator
