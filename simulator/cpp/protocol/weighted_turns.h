// Which priority sends next: those without a weight first, the largest number first; those with one share
// what is left in proportion to their weights. Source: Shreedhar and Varghese, "Efficient fair queuing using
// deficit round-robin", SIGCOMM 1995.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "protocol/priorities.h"

namespace simulator {

using PriorityWeights = std::array<std::uint32_t, kPriorities>;  // 0: none

class WeightedTurns {
 public:
  explicit WeightedTurns(const PriorityWeights& weights) : weights_(weights) {
    for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
      if (weights[priority] != 0) weighted_ |= mask_of(priority);
    }
  }

  // One of `may_go`, which is not empty. `frame_bytes(priority)` is the size of its first frame, which counts
  // as sent.
  template <class FrameBytes>
  std::uint32_t next(PriorityMask may_go, FrameBytes&& frame_bytes) {
    const auto strict = static_cast<PriorityMask>(may_go & ~weighted_);
    if (strict != 0) return highest_of(strict);
    for (;; go_on()) {
      if (!has_priority(may_go, turn_)) continue;
      if (!has_begun_) deficits_[turn_] += kQuantumBytes * weights_[turn_];
      has_begun_ = true;
      const std::int64_t frame = frame_bytes(turn_);
      if (deficits_[turn_] < frame) continue;
      deficits_[turn_] -= frame;
      return turn_;
    }
  }

  // A priority that has nothing to send keeps no credit.
  void on_empty(std::uint32_t priority) { deficits_[priority] = 0; }

 private:
  // Of one turn and weight 1: an Ethernet frame of the usual size.
  static constexpr std::int64_t kQuantumBytes = 1518;

  void go_on() {
    turn_ = (turn_ + 1) % kPriorities;
    has_begun_ = false;
  }

  PriorityWeights weights_;
  PriorityMask weighted_ = 0;
  std::uint32_t turn_ = 0;
  bool has_begun_ = false;  // this turn, with its quantum
  std::array<std::int64_t, kPriorities> deficits_{};
};

}  // namespace simulator
