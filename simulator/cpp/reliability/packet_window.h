// A record of each packet from a base on that only moves up.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/units.h"

namespace simulator {

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
    if (!slots_.empty()) __builtin_prefetch(&(*this)[number]);
  }

  const SentPacket& operator[](std::uint64_t number) const { return slots_[number & (slots_.size() - 1)]; }
  SentPacket& operator[](std::uint64_t number) {
    if (number - base_ >= slots_.size()) grow(number - base_ + 1);
    return slots_[number & (slots_.size() - 1)];
  }

 private:
  void grow(std::uint64_t span) {
    std::uint64_t size = 64;
    while (size < span) size *= 2;
    std::vector<SentPacket> larger(size);
    for (std::uint64_t number = base_; number < base_ + slots_.size(); ++number) {
      larger[number & (size - 1)] = slots_[number & (slots_.size() - 1)];
    }
    slots_ = std::move(larger);
  }

  std::uint64_t base_ = 0;
  std::vector<SentPacket> slots_;  // a power of two, or none
};

}  // namespace simulator
