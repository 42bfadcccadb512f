// Choice of a packet's path by the senders of Ultra Ethernet: oblivious, bitmap, REPS.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/containers.h"
#include "base/random_stream.h"
#include "base/units.h"
#include "protocol/path_hash.h"

namespace simulator {

// How a sender chooses the entropy of its next packet, and what it learns from those that were answered. The
// four balancers are those of uet-htsim (uec_mp.cpp, commit 40ccb05).

// Fate of a packet: it arrived, it arrived marked, it was trimmed, or it had no reply.
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

// Load balancing "bitmap": entropies go round as in "oblivious", and one that had bad news is passed over as
// many times as the news were bad. Source: uet-htsim, UecMpBitmap: penalties 1, 4 and 15 for a mark, a trimmed
// packet and a timeout, 15 at most.
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

// Load balancing "REPS": an entropy that brought a packet through unmarked is used once more; without one the
// next is drawn at random. After a timeout the sender freezes for a while: it goes round what it knows, used or
// not. Then it forgets all and draws some at random. Source: Bonato et al., "REPS: recycled entropy packet spraying
// for adaptive load balancing and failure mitigation", arXiv 2407.21625; numbers of uet-htsim (UecMpReps,
// CircularBufferREPS).

// Time for which a sender freezes, and number of entropies that it draws then.
struct RepsFreeze {
  Picoseconds lasts;
  std::uint32_t explored;
};

class PathReps final : public PathChoice {
 public:
  static constexpr std::uint32_t kBufferSize = 8;

  PathReps(RandomStream stream, std::uint32_t paths, RepsFreeze freeze)
      : stream_(stream), mask_(paths - 1), freeze_(freeze) {}

  std::uint32_t next() override {
    if (explore_ > 0) {
      --explore_;
      return draw();
    }
    if (is_frozen_ && buffered_ > 0) return next_frozen();
    return fresh_ > 0 ? take_fresh() : draw();
  }

  void on_report(std::uint32_t path, PathReport report, Picoseconds now) override {
    if (report == PathReport::kTimeout && !is_frozen_ && explore_ == 0) {
      is_frozen_ = true;
      frozen_until_ = now + freeze_.lasts;
    }
    if (is_frozen_ && now > frozen_until_) thaw();
    if (report == PathReport::kGood) keep(path);
  }

 private:
  struct RecycledPath {
    std::uint32_t path = 0;
    bool is_fresh = false;  // not used since it came
  };

  std::uint32_t draw() { return static_cast<std::uint32_t>(stream_.next_bits()) & mask_; }

  void keep(std::uint32_t path) {
    if (!buffer_[head_].is_fresh) ++fresh_;
    buffer_[head_] = {path, true};
    head_ = (head_ + 1) % kBufferSize;
    buffered_ = std::min(buffered_ + 1, kBufferSize);
  }

  std::uint32_t take_fresh() {
    RecycledPath& oldest = buffer_[(head_ + kBufferSize - fresh_) % kBufferSize];
    oldest.is_fresh = false;
    --fresh_;
    return oldest.path;
  }

  std::uint32_t next_frozen() {
    RecycledPath& turn = buffer_[turn_];
    if (turn.is_fresh) --fresh_;
    turn.is_fresh = false;
    turn_ = (turn_ + 1) % buffered_;
    return turn.path;
  }

  void thaw() {
    buffer_ = {};
    head_ = buffered_ = fresh_ = turn_ = 0;
    is_frozen_ = false;
    explore_ = freeze_.explored;
  }

  RandomStream stream_;
  std::uint32_t mask_;
  RepsFreeze freeze_;
  std::array<RecycledPath, kBufferSize> buffer_{};
  std::uint32_t head_ = 0;      // where the next one is kept
  std::uint32_t buffered_ = 0;  // number of filled places
  std::uint32_t fresh_ = 0;     // number of unused ones, the last ones before `head_`
  std::uint32_t turn_ = 0;      // while it is frozen
  std::uint32_t explore_ = 0;
  bool is_frozen_ = false;
  Picoseconds frozen_until_;
};

// The path balancers by number: parameter `load_balancing`.
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
