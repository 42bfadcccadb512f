// Puts packets back in order: what has come beyond the first one that is missing is kept.
#pragma once

#include <cstdint>

#include "base/numbered_slots.h"
#include "base/units.h"
#include "reliability/acknowledgement.h"

namespace simulator {

class Reassembly {
 public:
  enum class Arrival : std::uint8_t { kInOrder, kAhead, kDuplicate };

  Arrival add(std::uint64_t number, std::uint32_t payload_bytes) {
    if (number < expected_ || has(number)) return Arrival::kDuplicate;
    slots_.make_room(expected_, number);
    if (end_ <= number) end_ = number + 1;
    slots_[number] = payload_bytes + 1;
    if (number != expected_) return Arrival::kAhead;
    for (; expected_ != end_ && slots_[expected_] != 0; ++expected_) {
      delivered_.value += slots_[expected_] - 1;
      slots_[expected_] = 0;
    }
    return Arrival::kInOrder;
  }

  // What the next packet will need, into the cache.
  void prefetch() const {
    if (slots_.empty()) return;
    __builtin_prefetch(&slots_[expected_]);
    __builtin_prefetch(&slots_[end_]);
  }

  std::uint64_t expected() const { return expected_; }
  Bytes delivered() const { return delivered_; }

  // Something is here that waits for a packet before it.
  bool has_waiting() const { return end_ > expected_; }

  // The packet is here, and waits for one before it.
  bool has(std::uint64_t number) const { return number >= expected_ && number < end_ && slots_[number] != 0; }

 private:
  std::uint64_t expected_ = 0;
  std::uint64_t end_ = 0;                   // one past the highest that has come
  NumberedSlots<std::uint32_t, 64> slots_;  // 1 + payload of each packet that waits, else 0
  Bytes delivered_;
};

}  // namespace simulator
