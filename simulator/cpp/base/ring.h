// A queue in one piece of memory, whose places are known by a running number. It has none until something is put in.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace simulator {

template <class Item>
class Ring {
 public:
  bool empty() const { return head_ == tail_; }
  std::uint64_t head() const { return head_; }  // number of the oldest
  std::uint64_t tail() const { return tail_; }  // one past the newest: so many have ever been put in

  Item& operator[](std::uint64_t number) { return slots_[number & (slots_.size() - 1)]; }
  const Item& operator[](std::uint64_t number) const { return slots_[number & (slots_.size() - 1)]; }
  Item& front() { return (*this)[head_]; }
  const Item& front() const { return (*this)[head_]; }

  void push(const Item& item) {
    if (tail_ - head_ == slots_.size()) grow();
    (*this)[tail_++] = item;
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
  void grow() {
    std::vector<Item> larger(slots_.empty() ? 4 : slots_.size() * 2);
    for (std::uint64_t n = head_; n != tail_; ++n) larger[n & (larger.size() - 1)] = std::move((*this)[n]);
    slots_ = std::move(larger);
  }

  std::vector<Item> slots_;  // a power of two, or empty
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace simulator
