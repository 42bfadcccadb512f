// A queue in one piece of memory, whose places are known by a running number. It has none until something is put in.
#pragma once

#include <cstdint>

#include "base/numbered_slots.h"

namespace simulator {

template <class Item>
class Ring {
 public:
  bool empty() const { return head_ == tail_; }
  std::uint64_t head() const { return head_; }  // number of the oldest
  std::uint64_t tail() const { return tail_; }  // one past the newest: so many have ever been put in

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

}  // namespace simulator
