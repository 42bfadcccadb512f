// A tournament tree, and the queue of ready queue pairs over it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "base/random_stream.h"
#include "base/units.h"
#include "engine/quaternary_heap.h"

namespace simulator {

// A tournament over a fixed set of event sources: one slot each, one 64-bit word per slot, the smallest word
// wins.
//
// Setting a slot walks to the root with min(): no branch to mispredict, no stale entries, decreasing and
// cancelling are free, and the number of the link in the low bits breaks ties. Four siblings per group halve the
// levels; the minimum of the three siblings does not depend on the word below, so the dependent chain is one
// min() per level.
//
// Sources that belong together have neighbouring slots, a part of the tree. Who looks at nothing else for a while
// sets slots within the part, and settles it in the end.
class WinnerTree {
 public:
  // 35 bits of picoseconds (34 ms) counted from a base that moves along, a bit for arrivals, 8 bits that
  // order those of the same instant, and 20 bits that name the link. Those of the timers are 0: behind
  // departures, in front of arrivals.
  static constexpr int kLinkBits = 20;
  static constexpr int kTieBits = TieBreak::kBits;
  static constexpr int kTimeShift = kLinkBits + kTieBits + 1;
  static constexpr std::uint64_t kArrival = std::uint64_t{1} << (kTimeShift - 1);
  static constexpr std::uint64_t kBehindDepartures = kArrival - (std::uint64_t{1} << kLinkBits);
  static constexpr std::uint32_t kLinksMax = (1U << kLinkBits) - 1;
  static constexpr std::uint64_t kIdle = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::int64_t kHorizonPs = (std::int64_t{1} << (64 - kTimeShift)) - 2;
  static constexpr std::int64_t kRebasePs = std::int64_t{1} << (63 - kTimeShift);

  // Neighbouring slots, 4^levels of them, and the word that holds the least of theirs.
  struct Part {
    std::uint32_t word = 0;
    int levels = 0;
  };

  explicit WinnerTree(TieBreak tie_break) : tie_break_(tie_break) { reset(0, 0); }

  // So many slots for links, and one for the timers.
  void reset(std::uint32_t slots, std::uint32_t links) {
    timers_slot_ = slots;
    links_ = links;
    levels_ = 1;
    for (first_slot_ = 4; first_slot_ < slots + 1; ++levels_) first_slot_ *= 4;
    groups_.assign((first_slot_ + slots) / 4 + 1, Group{kIdle, kIdle, kIdle, kIdle});
    root_ = kIdle;
  }

  void set_link(std::uint32_t slot, std::uint32_t link, Picoseconds at) {
    set_word(slot, at == kNever ? kIdle : arrival_word(link, at));
  }
  // Something leaves, before anything arrives at that instant.
  void set_departure(std::uint32_t slot, std::uint32_t link, Picoseconds at) {
    set_word(slot, packed(at) | (link + 1));
  }
  void set_timers(Picoseconds at) {
    set_word(timers_slot_, at == kNever ? kIdle : packed(at) | kBehindDepartures);
  }

  bool is_idle() const { return root_ == kIdle; }
  Picoseconds next_instant() const { return instant_of(root_); }
  bool is_next_an_arrival() const { return (root_ & kArrival) != 0; }
  bool is_next_a_link() const { return (root_ & kLinksMax) != 0; }
  std::uint32_t next_link() const { return link_of(root_); }

  // Of 4^levels slots from this one on, whose number is a multiple of that.
  Part part_of(std::uint32_t slot, int levels) const {
    return {(first_slot_ + slot) >> (2 * levels), levels};
  }

  // Until settle(), only this part may be read.
  void set_link_within(Part part, std::uint32_t slot, std::uint32_t link, Picoseconds at) {
    climb(first_slot_ + slot, arrival_word(link, at), part.word);
  }
  void settle(Part part) { root_ = climb(part.word, words()[part.word], 0); }
  bool is_next_an_arrival_in(Part part) const { return (words()[part.word] & kArrival) != 0; }
  Picoseconds next_instant_in(Part part) const { return instant_of(words()[part.word]); }
  std::uint32_t next_link_in(Part part) const { return link_of(words()[part.word]); }

  // Calls `visit(link)` for each that waits for something until then, in the order of slots.
  template <class Visit>
  [[gnu::always_inline]] void for_each_until(Part part, Picoseconds until, Visit&& visit) const {
    const std::uint64_t* const first = words() + (std::size_t{part.word} << (2 * part.levels));
    const std::uint64_t end = packed(until + Picoseconds{1});
    for (std::size_t slot = 0; slot < std::size_t{1} << (2 * part.levels); ++slot) {
      if (first[slot] < end) visit(link_of(first[slot]));
    }
  }

  // The part that shares its top `depth` levels with this slot.
  Part large_part_of(std::uint32_t slot, int depth) const { return part_of(slot, levels_ - depth); }

  // The link of a part that comes first; any link, if none of them waits for anything.
  std::uint32_t any_link_in(Part part) const { return std::min(link_of(words()[part.word]), links_ - 1); }

  // True when the next instant is so far from the base that the base must move: then set every slot again.
  bool must_rebase() const { return root_ >= static_cast<std::uint64_t>(kRebasePs) << kTimeShift; }
  void rebase(Picoseconds base) { base_ = base; }

 private:
  // Instants beyond the horizon are cut to it: they come up early, and the base moves before they are looked
  // at.
  std::uint64_t packed(Picoseconds at) const {
    return static_cast<std::uint64_t>(std::min(at.value - base_.value, kHorizonPs)) << kTimeShift;
  }

  std::uint64_t arrival_word(std::uint32_t link, Picoseconds at) const {
    const std::uint64_t tie = (std::uint64_t{tie_break_.place(link, at)} << kLinkBits) | (link + 1);
    return packed(at) | kArrival | tie;
  }
  Picoseconds instant_of(std::uint64_t word) const {
    return {base_.value + static_cast<std::int64_t>(word >> kTimeShift)};
  }
  static std::uint32_t link_of(std::uint64_t word) {
    return (static_cast<std::uint32_t>(word) & kLinksMax) - 1;
  }

  // Words are numbered so that the group of four with numbers 4n to 4n + 3 has its minimum in word n.
  struct alignas(32) Group {
    std::uint64_t words[4];
  };

  const std::uint64_t* words() const { return reinterpret_cast<const std::uint64_t*>(groups_.data()); }

  // Not inline: its callers would have to keep their registers for the rare cases beside it.
  [[gnu::noinline]] void set_word(std::uint32_t slot, std::uint64_t word) {
    root_ = climb(first_slot_ + slot, word, 0);
  }

  // From a place up to `top`, or to the root. Returns the least word below it.
  [[gnu::always_inline]] std::uint64_t climb(std::uint32_t at, std::uint64_t word, std::uint32_t top) {
    Group* const groups = groups_.data();
    for (; at >= 4; at /= 4) {
      std::uint64_t* const words = groups[at / 4].words;
      const std::uint32_t place = at % 4;
      words[place] = word;
      if (at == top) break;
      const std::uint64_t siblings = std::min(std::min(words[place ^ 1], words[place ^ 2]), words[place ^ 3]);
      word = std::min(word, siblings);
    }
    return word;
  }

  TieBreak tie_break_;
  std::uint64_t root_ = kIdle;
  Picoseconds base_;
  std::uint32_t first_slot_ = 4;
  std::uint32_t timers_slot_ = 0;
  std::uint32_t links_ = 0;
  int levels_ = 1;
  std::vector<Group> groups_;
};

// The queue pairs of a NIC that have something to send.

// The one that became ready first goes first, which is round robin among those that wait for the port; of
// equals, the one that was served longest ago. Two words, so that an entry is passed in registers.
class ReadyQueuePair {
 public:
  static constexpr int kQueuePairBits = 24;
  static constexpr std::uint32_t kQueuePairsMax = 1U << kQueuePairBits;

  // `served`: how many packets the NIC had sent when this queue pair last sent one.
  ReadyQueuePair(Picoseconds ready, std::uint64_t served, std::uint32_t qp)
      : ready_(ready), turn_(served << kQueuePairBits | qp) {}

  Picoseconds ready() const { return ready_; }
  std::uint32_t qp() const { return static_cast<std::uint32_t>(turn_) & (kQueuePairsMax - 1); }
  void set_ready(Picoseconds ready) { ready_ = ready; }

  friend bool operator<(const ReadyQueuePair& a, const ReadyQueuePair& b) {
    // Without a branch, which would be unpredictable.
    return (a.ready_ < b.ready_) | ((a.ready_ == b.ready_) & (a.turn_ < b.turn_));
  }

 private:
  Picoseconds ready_;
  std::uint64_t turn_;  // when it was served last, and its number
};

// Each touch of the NIC's port reads when the first queue pair is ready, and mostly none is. So that instant is
// kept beside the heap.
class ReadyQueue {
 public:
  Picoseconds first() const { return first_; }  // kNever if there is none
  const ReadyQueuePair& top() const { return heap_.top(); }
  std::size_t size() const { return heap_.size(); }

  void push(const ReadyQueuePair& entry) {
    heap_.push(entry);
    update_first();
  }

  void replace_top(const ReadyQueuePair& entry) {
    heap_.replace_top(entry);
    update_first();
  }

  void pop() {
    heap_.pop();
    update_first();
  }

  // Changes or drops entries: `change(entry)` returns false for an entry to drop.
  template <class Change>
  void rebuild(Change&& change) {
    heap_.rebuild(change);
    update_first();
  }

 private:
  void update_first() { first_ = heap_.empty() ? kNever : heap_.top().ready(); }

  Picoseconds first_ = kNever;
  QuaternaryHeap<ReadyQueuePair> heap_;
};

}  // namespace simulator
