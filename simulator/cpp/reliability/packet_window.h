// Sets and records of packets from a base that only moves up.
#pragma once

#include <cstdint>

#include "base/containers.h"
#include "base/units.h"

namespace simulator {

// A record of each packet from a base on that only moves up.
enum class PacketState : std::uint8_t { kUnderWay, kToRepeat, kArrived };

struct SentPacket {
  Picoseconds left;  // its last byte left the NIC then, the last time
  PacketState state = PacketState::kUnderWay;
};

class PacketWindow {
 public:
  // Forgets what lies below.
  void begin_at(std::uint64_t base) { base_ = base; }

  void prefetch(std::uint64_t number) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[number]);
  }

  const SentPacket& operator[](std::uint64_t number) const { return slots_[number]; }
  SentPacket& operator[](std::uint64_t number) {
    slots_.make_room(base_, number);
    return slots_[number];
  }

 private:
  std::uint64_t base_ = 0;
  NumberedSlots<SentPacket, 64> slots_;
};

// A set of packet numbers from a base on that only moves up.
class PacketSet {
 public:
  // Forgets what lies below.
  void advance(std::uint64_t base) {
    for (; base_ < base && base_ < end_; ++base_) bits_[base_] = false;
    if (base_ < base) base_ = base;
    if (end_ < base_) end_ = base_;
  }

  void add(std::uint64_t number) {
    if (number < base_) return;
    bits_.make_room(base_, number);
    bits_[number] = true;
    if (end_ <= number) end_ = number + 1;
  }

  bool has(std::uint64_t number) const { return number >= base_ && number < end_ && bits_[number]; }
  bool has_above(std::uint64_t number) const { return end_ > base_ && end_ - 1 > number; }

  std::uint64_t first_missing(std::uint64_t from) const {
    while (has(from)) ++from;
    return from;
  }

 private:
  std::uint64_t base_ = 0;
  std::uint64_t end_ = 0;  // one past the highest member, or base_
  NumberedSlots<bool, 128> bits_;
};

}  // namespace simulator
