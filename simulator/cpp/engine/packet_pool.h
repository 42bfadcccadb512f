// Storage of all live packets: grows to the peak and stays. The last one freed is the next one used.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "engine/growing_memory.h"
#include "engine/packet.h"

namespace simulator {

class PacketPool {
 public:
  // References do not survive an allocation: take them afterwards.
  Packet& operator[](PacketIndex index) { return packets_[index]; }
  const Packet& operator[](PacketIndex index) const { return packets_[index]; }

  // A packet that waited long has left the cache: prefetch it while its predecessor is being sent.
  // Of no packet, the place behind the last one: looking up an address far away takes long.
  void prefetch(PacketIndex index) const { __builtin_prefetch(packets_ + std::min(index, used_)); }

  PacketIndex allocate() {
    ++live_;
    if (free_ != kNoPacket) {
      const PacketIndex index = free_;
      free_ = packets_[index].next;
      return index;
    }
    if (used_ == capacity_) grow();
    return used_++;
  }

  void free(PacketIndex index) {
    --live_;
    packets_[index].next = free_;
    free_ = index;
  }

  PacketIndex live() const { return live_; }
  PacketIndex peak() const { return used_; }

 private:
  void grow() {
    const std::size_t larger = std::max<std::size_t>(2048, std::size_t{capacity_} * 2);
    if (larger > kPacketsMax || !memory_.grow(larger * sizeof(Packet)))
      throw SimulationError("no memory for more than " + std::to_string(capacity_) + " packets under way");
    packets_ = reinterpret_cast<Packet*>(memory_.data());
    capacity_ = static_cast<PacketIndex>(larger);
  }

  static constexpr std::size_t kPacketsMax = std::size_t{1} << 31;  // the last doubling that indices count

  GrowingMemory memory_;
  Packet* packets_ = nullptr;
  PacketIndex free_ = kNoPacket;
  PacketIndex used_ = 0;
  PacketIndex capacity_ = 0;
  PacketIndex live_ = 0;
};

// A queue of packets linked through their `next`.
struct PacketFifo {
  PacketIndex head = kNoPacket;
  PacketIndex tail = kNoPacket;

  bool empty() const { return head == kNoPacket; }
  PacketIndex newest() const { return empty() ? kNoPacket : tail; }

  void push(PacketPool& pool, PacketIndex index) {
    pool[index].next = kNoPacket;
    if (empty()) {
      head = index;
    } else {
      pool[tail].next = index;
    }
    tail = index;
  }

  PacketIndex pop(const PacketPool& pool) {
    const PacketIndex index = head;
    head = pool[index].next;
    return index;
  }

  // Looks at all that wait to find the last but one.
  PacketIndex pop_newest(PacketPool& pool) {
    if (head == tail) return pop(pool);
    PacketIndex before = head;
    while (pool[before].next != tail) before = pool[before].next;
    pool[before].next = kNoPacket;
    return std::exchange(tail, before);
  }
};

}  // namespace simulator
