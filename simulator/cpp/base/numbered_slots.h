// Places in one piece of memory for items with running numbers, of which those in use lie close together: a number
// has the place of its low bits. There are none until one is needed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace simulator {

template <class Item, std::uint64_t kFewest>
class NumberedSlots {
 public:
  bool empty() const { return slots_.empty(); }

  // Of a number that room was made for.
  decltype(auto) operator[](std::uint64_t number) { return slots_[number & (slots_.size() - 1)]; }
  decltype(auto) operator[](std::uint64_t number) const { return slots_[number & (slots_.size() - 1)]; }

  // So that all from `first` to `last` have places of their own. What is below `first` is over.
  void make_room(std::uint64_t first, std::uint64_t last) {
    if (last - first >= slots_.size()) grow(first, last - first + 1);
  }

 private:
  static_assert(std::has_single_bit(kFewest));

  void grow(std::uint64_t first, std::uint64_t span) {
    const std::uint64_t size = std::max(kFewest, std::bit_ceil(span));
    std::vector<Item> larger(size);
    for (std::uint64_t number = first; number != first + slots_.size(); ++number) {
      larger[number & (size - 1)] = std::move((*this)[number]);
    }
    slots_ = std::move(larger);
  }

  std::vector<Item> slots_;  // a power of two of them, or none
};

}  // namespace simulator
