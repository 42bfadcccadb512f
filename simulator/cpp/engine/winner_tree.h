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

#include "base/tie_break.h"
#include "base/units.h"

namespace simulator {

class WinnerTree {
 public:
  // 44 bits of picoseconds (17.6 s) counted from a base that moves along, one bit that puts the timers in
  // front of the links, and 19 bits of link number, shuffled.
  static constexpr int kTieBits = 20;
  static constexpr std::uint32_t kLinksMax = 1U << (kTieBits - 1);
  static constexpr std::uint64_t kIdle = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::int64_t kHorizonPs = (std::int64_t{1} << (64 - kTieBits)) - 2;
  static constexpr std::int64_t kRebasePs = std::int64_t{1} << (63 - kTieBits);

  explicit WinnerTree(TieBreak tie_break) : tie_break_(tie_break) { reset(0); }

  void reset(std::uint32_t links) {
    depth_ = 0;
    std::uint32_t words = 0;
    for (std::uint32_t width = links + 1; depth_ == 0 || width > 1; width = (width + 3) / 4) {
      offsets_[depth_++] = words;
      words += (width + 3) / 4 * 4;
    }
    words_.assign(words, kIdle);
    root_ = kIdle;
  }

  // Instants beyond the horizon are cut to it: they come up early, and are then looked at again.
  void set_link(std::uint32_t link, Picoseconds at) {
    if (at == kNever) return set_word(link + 1, kIdle);
    const std::int64_t relative = std::min(at.value - base_.value, kHorizonPs);
    const std::uint32_t tie = kLinksMax | tie_break_.shuffled(link, {base_.value + relative});
    set_word(link + 1, (static_cast<std::uint64_t>(relative) << kTieBits) | tie);
  }

  void set_timers(Picoseconds at) {
    if (at == kNever) return set_word(0, kIdle);
    const std::int64_t relative = std::min(at.value - base_.value, kHorizonPs);
    set_word(0, static_cast<std::uint64_t>(relative) << kTieBits);
  }

  bool is_idle() const { return root_ == kIdle; }
  Picoseconds next_instant() const { return {base_.value + static_cast<std::int64_t>(root_ >> kTieBits)}; }
  bool is_next_a_link() const { return (root_ & kLinksMax) != 0; }
  std::uint32_t next_link() const {
    return tie_break_.shuffled(static_cast<std::uint32_t>(root_) & (kLinksMax - 1), next_instant());
  }

  // True when the next instant is so far from the base that the base must move (by kRebasePs, then set every
  // slot again).
  bool must_rebase() const { return root_ >= static_cast<std::uint64_t>(kRebasePs) << kTieBits; }
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

  TieBreak tie_break_;
  std::uint64_t root_ = kIdle;
  Picoseconds base_;
  std::uint32_t depth_ = 0;
  std::array<std::uint32_t, 12> offsets_{};
  std::vector<std::uint64_t> words_;
};

}  // namespace simulator
