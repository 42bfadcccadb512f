// The ways to choose paths, by number: parameter `load_balancing`.
#pragma once

#include <cstdint>
#include <memory>

#include "base/random_stream.h"
#include "base/ring.h"
#include "protocol/oblivious_spray.h"
#include "reliability/path_bitmap.h"
#include "reliability/path_choice.h"
#include "reliability/path_reps.h"

namespace simulator {

enum class LoadBalancing : std::uint8_t { kOblivious, kBitmap, kReps, kMixed };

// All entropies in rounds, whatever becomes of the packets.
class PathRounds final : public PathChoice {
 public:
  PathRounds(RandomStream stream, std::uint32_t paths) : rounds_(stream, paths) {}
  std::uint32_t next() override { return rounds_.next(); }
  void on_report(std::uint32_t, PathReport, Picoseconds) override {}

 private:
  ObliviousSpray rounds_;
};

// Every entropy that brought a packet through unmarked once more, in that order; without one that of "bitmap".
// Source: uet-htsim, UecMpMixed.
class PathMixed final : public PathChoice {
 public:
  PathMixed(RandomStream stream, std::uint32_t paths) : bitmap_(stream, paths) {}

  std::uint32_t next() override {
    if (good_.empty()) return bitmap_.next();
    const std::uint32_t path = good_.front();
    good_.pop();
    return path;
  }

  void on_report(std::uint32_t path, PathReport report, Picoseconds now) override {
    bitmap_.on_report(path, report, now);
    if (report == PathReport::kGood) good_.push(path);
  }

 private:
  PathBitmap bitmap_;
  Ring<std::uint32_t> good_;
};

inline std::unique_ptr<PathChoice> create_path_choice(LoadBalancing kind, const RandomStream& stream,
                                                      std::uint32_t paths, RepsFreeze freeze) {
  switch (kind) {
    case LoadBalancing::kOblivious:
      return std::make_unique<PathRounds>(stream, paths);
    case LoadBalancing::kBitmap:
      return std::make_unique<PathBitmap>(stream, paths);
    case LoadBalancing::kReps:
      return std::make_unique<PathReps>(stream, paths, freeze);
    case LoadBalancing::kMixed:
      return std::make_unique<PathMixed>(stream, paths);
  }
  return nullptr;
}

}  // namespace simulator
