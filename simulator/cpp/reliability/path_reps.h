// Load balancing "REPS": an entropy that brought a packet through unmarked is used once more; without one the
// next is drawn at random. After a timeout the sender freezes for a while: it goes round what it knows, used or
// not. Then it forgets all and draws some at random. Source: Bonato et al., "REPS: recycled entropy packet spraying
// for adaptive load balancing and failure mitigation", arXiv 2407.21625; numbers of uet-htsim (UecMpReps,
// CircularBufferREPS).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/random_stream.h"
#include "reliability/path_choice.h"

namespace simulator {

// How long a sender freezes, and how many entropies it draws then.
struct RepsFreeze {
  Picoseconds lasts;
  std::uint32_t explored;
};

class PathReps final : public PathChoice {
 public:
  static constexpr std::uint32_t kKept = 8;

  PathReps(RandomStream stream, std::uint32_t paths, RepsFreeze freeze)
      : stream_(stream), mask_(paths - 1), freeze_(freeze) {}

  std::uint32_t next() override {
    if (explore_ > 0) {
      --explore_;
      return draw();
    }
    if (is_frozen_ && kept_ > 0) return next_frozen();
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
  struct Kept {
    std::uint32_t path = 0;
    bool is_fresh = false;  // not used since it came
  };

  std::uint32_t draw() { return static_cast<std::uint32_t>(stream_.next_bits()) & mask_; }

  void keep(std::uint32_t path) {
    if (!buffer_[head_].is_fresh) ++fresh_;
    buffer_[head_] = {path, true};
    head_ = (head_ + 1) % kKept;
    kept_ = std::min(kept_ + 1, kKept);
  }

  std::uint32_t take_fresh() {
    Kept& oldest = buffer_[(head_ + kKept - fresh_) % kKept];
    oldest.is_fresh = false;
    --fresh_;
    return oldest.path;
  }

  std::uint32_t next_frozen() {
    Kept& turn = buffer_[turn_];
    if (turn.is_fresh) --fresh_;
    turn.is_fresh = false;
    turn_ = (turn_ + 1) % kept_;
    return turn.path;
  }

  void thaw() {
    buffer_ = {};
    head_ = kept_ = fresh_ = turn_ = 0;
    is_frozen_ = false;
    explore_ = freeze_.explored;
  }

  RandomStream stream_;
  std::uint32_t mask_;
  RepsFreeze freeze_;
  std::array<Kept, kKept> buffer_{};
  std::uint32_t head_ = 0;   // where the next one is kept
  std::uint32_t kept_ = 0;   // so many places have been filled
  std::uint32_t fresh_ = 0;  // so many of them not used, the last ones before `head_`
  std::uint32_t turn_ = 0;   // while it is frozen
  std::uint32_t explore_ = 0;
  bool is_frozen_ = false;
  Picoseconds frozen_until_;
};

}  // namespace simulator
