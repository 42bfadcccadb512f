// A tournament over a fixed set of event sources: one slot each, one 64-bit word per slot, the smallest word
// wins.
//
// Setting a slot walks to the root with min(): no branch to mispredict, no stale entries, decreasing and
// cancelling are free, and the slot number in the low bits breaks ties. Four siblings per group halve the
// levels; the minimum of the three siblings does not depend on the word below, so the dependent chain is one
// min() per level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/tie_break.h"
#include "base/units.h"

namespace simulator {

class WinnerTree {
 public:
  // 35 bits of picoseconds (34 ms) counted from a base that moves along, a bit for arrivals, 8 bits that
  // order those of the same instant, and 20 bits of slot. Slot 0 is that of the timers: behind departures, in
  // front of arrivals.
  static constexpr int kSlotBits = 20;
  static constexpr int kTieBits = TieBreak::kBits;
  static constexpr int kTimeShift = kSlotBits + kTieBits + 1;
  static constexpr std::uint64_t kArrival = std::uint64_t{1} << (kTimeShift - 1);
  static constexpr std::uint64_t kBehindDepartures = kArrival - (std::uint64_t{1} << kSlotBits);
  static constexpr std::uint32_t kLinksMax = (1U << kSlotBits) - 1;
  static constexpr std::uint64_t kIdle = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::int64_t kHorizonPs = (std::int64_t{1} << (64 - kTimeShift)) - 2;
  static constexpr std::int64_t kRebasePs = std::int64_t{1} << (63 - kTimeShift);

  explicit WinnerTree(TieBreak tie_break) : tie_break_(tie_break) { reset(0); }

  void reset(std::uint32_t links) {
    first_slot_ = 4;
    links_ = links;
    levels_ = 1;
    for (; first_slot_ < links + 1; ++levels_) first_slot_ *= 4;
    groups_.assign((first_slot_ + links) / 4 + 1, Group{kIdle, kIdle, kIdle, kIdle});
    root_ = kIdle;
  }

  void set_link(std::uint32_t link, Picoseconds at) {
    if (at == kNever) return set_word(link + 1, kIdle);
    const std::uint64_t tie = (std::uint64_t{tie_break_.place(link, at)} << kSlotBits) | (link + 1);
    set_word(link + 1, packed(at) | kArrival | tie);
  }
  // Something leaves, before anything arrives at that instant.
  void set_departure(std::uint32_t link, Picoseconds at) { set_word(link + 1, packed(at) | (link + 1)); }
  void set_timers(Picoseconds at) { set_word(0, at == kNever ? kIdle : packed(at) | kBehindDepartures); }

  bool is_idle() const { return root_ == kIdle; }
  Picoseconds next_instant() const { return {base_.value + static_cast<std::int64_t>(root_ >> kTimeShift)}; }
  bool is_next_an_arrival() const { return (root_ & kArrival) != 0; }
  bool is_next_a_link() const { return (root_ & kLinksMax) != 0; }
  std::uint32_t next_link() const { return (static_cast<std::uint32_t>(root_) & kLinksMax) - 1; }

  // The part of the tree that shares its top `depth` levels with this link; the next larger one is a quarter
  // of that number.
  std::uint32_t part_of(std::uint32_t link, int depth) const {
    return (first_slot_ + link + 1) >> (2 * (levels_ - depth));
  }

  // The link of a part that comes first; any link, if none of them waits for anything.
  std::uint32_t next_link_of(std::uint32_t part) const {
    const auto word = static_cast<std::uint32_t>(words()[part]);
    return std::min((word & kLinksMax) - 1, links_ - 1);
  }

  // True when the next instant is so far from the base that the base must move: then set every slot again.
  bool must_rebase() const { return root_ >= static_cast<std::uint64_t>(kRebasePs) << kTimeShift; }
  void rebase(Picoseconds base) { base_ = base; }

 private:
  // Instants beyond the horizon are cut to it: they come up early, and the base moves before they are looked
  // at.
  std::uint64_t packed(Picoseconds at) const {
    return static_cast<std::uint64_t>(std::min(at.value - base_.value, kHorizonPs)) << kTimeShift;
  }

  // Words are numbered so that the group of four with numbers 4n to 4n + 3 has its minimum in word n.
  struct alignas(32) Group {
    std::uint64_t words[4];
  };

  const std::uint64_t* words() const { return reinterpret_cast<const std::uint64_t*>(groups_.data()); }

  // Not inline: its callers would have to keep their registers for the rare cases beside it.
  [[gnu::noinline]] void set_word(std::uint32_t slot, std::uint64_t word) {
    Group* const groups = groups_.data();
    for (std::uint32_t at = first_slot_ + slot; at >= 4; at /= 4) {
      std::uint64_t* const words = groups[at / 4].words;
      const std::uint32_t place = at % 4;
      words[place] = word;
      const std::uint64_t siblings = std::min(std::min(words[place ^ 1], words[place ^ 2]), words[place ^ 3]);
      word = std::min(word, siblings);
    }
    root_ = word;
  }

  TieBreak tie_break_;
  std::uint64_t root_ = kIdle;
  Picoseconds base_;
  std::uint32_t first_slot_ = 4;
  std::uint32_t links_ = 0;
  int levels_ = 1;
  std::vector<Group> groups_;
};

}  // namespace simulator
