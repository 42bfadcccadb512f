// Puts packets back in order: what has come beyond the first one that is missing is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "reliability/acknowledgement.h"

namespace simulator {

class Reassembly {
 public:
  enum class Arrival : std::uint8_t { kInOrder, kAhead, kDuplicate };

  Arrival add(std::uint64_t number, std::uint32_t payload_bytes) {
    if (number < expected_ || has(number)) return Arrival::kDuplicate;
    if (number - expected_ >= slots_.size()) grow(number - expected_ + 1);
    if (end_ <= number) end_ = number + 1;
    slot(number) = payload_bytes + 1;
    if (number != expected_) return Arrival::kAhead;
    for (; expected_ != end_ && slot(expected_) != 0; ++expected_) {
      delivered_.value += slot(expected_) - 1;
      slot(expected_) = 0;
    }
    return Arrival::kInOrder;
  }

  // What the next packet will need, into the cache.
  void prefetch() const {
    if (slots_.empty()) return;
    __builtin_prefetch(&slot(expected_));
    __builtin_prefetch(&slot(end_));
  }

  std::uint64_t expected() const { return expected_; }
  Bytes delivered() const { return delivered_; }

  // Something is here that waits for a packet before it.
  bool has_waiting() const { return end_ > expected_; }

  // The packet is here, and waits for one before it.
  bool has(std::uint64_t number) const { return number >= expected_ && number < end_ && slot(number) != 0; }

 private:
  const std::uint32_t& slot(std::uint64_t number) const { return slots_[number & (slots_.size() - 1)]; }
  std::uint32_t& slot(std::uint64_t number) { return slots_[number & (slots_.size() - 1)]; }

  void grow(std::uint64_t span) {
    std::uint64_t size = 64;
    while (size < span) size *= 2;
    std::vector<std::uint32_t> larger(size, 0);
    for (std::uint64_t number = expected_; number < end_; ++number) {
      larger[number & (size - 1)] = slot(number);
    }
    slots_ = std::move(larger);
  }

  std::uint64_t expected_ = 0;
  std::uint64_t end_ = 0;             // one past the highest that has come
  std::vector<std::uint32_t> slots_;  // 1 + payload of each packet that waits, else 0; a power of two of them
  Bytes delivered_;
};

}  // namespace simulator
