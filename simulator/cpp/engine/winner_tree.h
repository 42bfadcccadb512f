// A tournament over a fixed set of event sources: one slot each, one 64-bit word per slot, the smallest word
// wins.
//
// Setting a slot walks to the root with min(): no branch to mispredict, no stale entries, decreasing and
// cancelling are free, and the slot number in the low bits breaks ties. Four siblings per group halve the
// levels; the minimum of the three siblings does not depend on the word below, so the dependent chain is one
// min() per level.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/units.h"

namespace simulator {

class WinnerTree {
 public:
  // 44 bits of picoseconds (17.6 s) counted from a base that moves along, and 20 bits of slot.
  static constexpr int kSlotBits = 20;
  static constexpr std::uint32_t kSlotsMax = 1U << kSlotBits;
  static constexpr std::uint64_t kIdle = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::int64_t kHorizonPs = (std::int64_t{1} << (64 - kSlotBits)) - 2;
  static constexpr std::int64_t kRebasePs = std::int64_t{1} << (63 - kSlotBits);

  void reset(std::uint32_t slots) {
    depth_ = 0;
    std::uint32_t words = 0;
    for (std::uint32_t width = slots; depth_ == 0 || width > 1; width = (width + 3) / 4) {
      offsets_[depth_++] = words;
      words += (width + 3) / 4 * 4;
    }
    words_.assign(words, kIdle);
    root_ = kIdle;
  }

  // Instants beyond the horizon are cut to it: they come up early, and are then looked at again.
  void set(std::uint32_t slot, Picoseconds at) {
    std::uint64_t word = kIdle;
    if (at != kNever) {
      const std::int64_t relative = std::min(at.value - base_.value, kHorizonPs);
      word = (static_cast<std::uint64_t>(relative) << kSlotBits) | slot;
    }
    set_word(slot, word);
  }

  bool is_idle() const { return root_ == kIdle; }
  std::uint32_t next_slot() const { return static_cast<std::uint32_t>(root_) & (kSlotsMax - 1); }
  Picoseconds next_instant() const { return {base_.value + static_cast<std::int64_t>(root_ >> kSlotBits)}; }

  // True when the next instant is so far from the base that the base must move (by kRebasePs, then set every
  // slot again).
  bool must_rebase() const { return root_ >= static_cast<std::uint64_t>(kRebasePs) << kSlotBits; }
  void move_base() { base_.value += kRebasePs; }

 private:
  void set_word(std::uint32_t slot, std::uint64_t word) {
    std::uint32_t at = slot;
    for (std::uint32_t level = 0; level < depth_; ++level) {
      std::uint64_t* const words = words_.data() + offsets_[level];
      words[at] = word;
      const std::uint64_t siblings = std::min(std::min(words[at ^ 1], words[at ^ 2]), words[at ^ 3]);
      word = std::min(word, siblings);
      at >>= 2;
    }
    root_ = word;
  }

  std::uint64_t root_ = kIdle;
  Picoseconds base_;
  std::uint32_t depth_ = 0;
  std::array<std::uint32_t, 12> offsets_{};
  std::vector<std::uint64_t> words_;
};

}  // namespace simulator
