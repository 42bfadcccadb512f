// A ring, slots for running numbers, and prefetching of objects.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace simulator {

// Places in one piece of memory for items with running numbers, of which those in use lie close together: a number
// has the place of its low bits. There are none until one is needed.
template <class Item, std::uint64_t kFewest>
class NumberedSlots {
 public:
  bool empty() const { return slots_.empty(); }

  // Of a number that room was made for.
  decltype(auto) operator[](std::uint64_t number) { return slots_[number & (slots_.size() - 1)]; }
  decltype(auto) operator[](std::uint64_t number) const { return slots_[number & (slots_.size() - 1)]; }

  // Make room for all numbers from `first` to `last`. Numbers below `first` are no longer needed.
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

// A queue in one piece of memory, whose places are known by a running number. It has none until something is put in.
template <class Item>
class Ring {
 public:
  bool empty() const { return head_ == tail_; }
  std::uint64_t head() const { return head_; }  // number of the oldest
  std::uint64_t tail() const { return tail_; }  // number of entries ever put in

  Item& operator[](std::uint64_t number) { return slots_[number]; }
  const Item& operator[](std::uint64_t number) const { return slots_[number]; }
  Item& front() { return (*this)[head_]; }
  const Item& front() const { return (*this)[head_]; }

  void push(const Item& item) {
    slots_.make_room(head_, tail_);
    slots_[tail_++] = item;
  }
  void pop() { ++head_; }
  void clear() { head_ = tail_; }

  // The oldest one, and where the next one goes, into the cache.
  void prefetch() const {
    if (slots_.empty()) return;
    __builtin_prefetch(&front());
    __builtin_prefetch(&(*this)[tail_]);
  }

 private:
  NumberedSlots<Item, 4> slots_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

inline constexpr std::size_t kLineBytes = 64;

// Always inline: otherwise gcc drops its calls because it sees no effect.
[[gnu::always_inline]] inline void prefetch_lines(const void* object, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kLineBytes) {
    __builtin_prefetch(static_cast<const std::byte*>(object) + at);
  }
}

}  // namespace simulator
