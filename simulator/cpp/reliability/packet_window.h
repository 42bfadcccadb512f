// A record of each packet from a base on that only moves up.
#pragma once

#include <cstdint>

#include "base/numbered_slots.h"
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

}  // namespace simulator
