// Storage of all live packets: grows to the peak and stays. The last one freed is the next one used.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "engine/packet.h"

namespace simulator {

class PacketPool {
 public:
  // References do not survive an allocation: take them afterwards.
  Packet& operator[](PacketIndex index) { return packets_[index]; }
  const Packet& operator[](PacketIndex index) const { return packets_[index]; }

  // A packet that waited long has left the cache: ask for it while its predecessor is being sent.
  void prefetch(PacketIndex index) const { __builtin_prefetch(packets_.get() + index); }

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
  // realloc moves large blocks by remapping pages: no copy, and pages never touched cost nothing.
  void grow() {
    const std::size_t larger = std::max<std::size_t>(1024, std::size_t{capacity_} * 2);
    if (larger > kNoPacket) throw std::bad_alloc();
    void* const moved = std::realloc(packets_.get(), larger * sizeof(Packet));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(packets_.release());
    packets_.reset(static_cast<Packet*>(moved));
    capacity_ = static_cast<PacketIndex>(larger);
  }

  struct Release {
    void operator()(Packet* packets) const { std::free(packets); }
  };

  std::unique_ptr<Packet[], Release> packets_;
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
};

}  // namespace simulator
