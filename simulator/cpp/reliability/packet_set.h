// A set of packet numbers from a base on that only moves up.
#pragma once

#include <cstdint>
#include <vector>

namespace simulator {

class PacketSet {
 public:
  // Forgets what lies below.
  void advance(std::uint64_t base) {
    for (; base_ < base && base_ < end_; ++base_) bits_[base_ & (bits_.size() - 1)] = false;
    if (base_ < base) base_ = base;
    if (end_ < base_) end_ = base_;
  }

  void add(std::uint64_t number) {
    if (number < base_) return;
    if (number - base_ >= bits_.size()) grow(number - base_ + 1);
    bits_[number & (bits_.size() - 1)] = true;
    if (end_ <= number) end_ = number + 1;
  }

  bool has(std::uint64_t number) const {
    return number >= base_ && number < end_ && bits_[number & (bits_.size() - 1)];
  }
  bool has_above(std::uint64_t number) const { return end_ > base_ && end_ - 1 > number; }

  std::uint64_t first_missing(std::uint64_t from) const {
    while (has(from)) ++from;
    return from;
  }

 private:
  void grow(std::uint64_t span) {
    std::uint64_t size = 128;
    while (size < span) size *= 2;
    std::vector<bool> larger(size, false);
    for (std::uint64_t number = base_; number < end_; ++number) larger[number & (size - 1)] = has(number);
    bits_ = std::move(larger);
  }

  std::uint64_t base_ = 0;
  std::uint64_t end_ = 0;  // one past the highest member, or base_
  std::vector<bool> bits_;
};

}  // namespace simulator
