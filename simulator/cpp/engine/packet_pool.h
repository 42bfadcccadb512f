// The memory of packets: a pool, tables beside it, and IP IDs.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/packet.h"

namespace simulator {

// Memory that grows without copying: the kernel moves its pages to a larger range of addresses.
class GrowingMemory {
 public:
  GrowingMemory() = default;
  ~GrowingMemory() { unmap(data_, bytes_); }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // Changes when the memory grows. Begins where a large page may.
  std::byte* data() const { return data_; }

  // Makes room for `bytes`; false, and nothing changes, if the system has no more. Pages take no memory before
  // they are used. Beyond one large page we request large ones, in which the processor finds a random address
  // sooner.
  [[nodiscard]] bool grow(std::size_t bytes) {
    std::byte* const place = map_aligned(bytes);
    if (place == nullptr) return false;
    constexpr int kFlags = MREMAP_MAYMOVE | MREMAP_FIXED;
    if (data_ != nullptr && mremap(data_, bytes_, bytes, kFlags, place) == MAP_FAILED) return false;
    data_ = place;
    bytes_ = bytes;
    if (bytes_ > kLargePageBytes) static_cast<void>(madvise(data_, bytes_, MADV_HUGEPAGE));
    return true;
  }

 private:
  static constexpr std::size_t kLargePageBytes = std::size_t{1} << 21;

  static std::byte* map_aligned(std::size_t bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const found = mmap(nullptr, bytes + kLargePageBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (found == MAP_FAILED) return nullptr;
    auto* const begin = static_cast<std::byte*>(found);
    const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(begin)) % kLargePageBytes;
    unmap(begin, before);
    unmap(begin + before + bytes, kLargePageBytes - before);
    return begin + before;
  }

  static void unmap(std::byte* begin, std::size_t bytes) {
    if (bytes > 0) munmap(begin, bytes);
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Storage of all live packets: grows to the peak and stays. The last one freed is the next one used.
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

// Data that only some packets carry, by packet. It grows with the pool.
template <class Item>
class PacketTable {
 public:
  explicit PacketTable(const PacketPool& pool) : pool_(pool) {}

  // Left over from another packet until it is written.
  Item& operator[](PacketIndex index) {
    if (items_.size() <= index) [[unlikely]]
      items_.resize(pool_.peak());
    return items_[index];
  }
  [[gnu::always_inline]] void prefetch(PacketIndex index) const { __builtin_prefetch(items_.data() + index); }

 private:
  const PacketPool& pool_;
  std::vector<Item> items_;
};

// IP IDs of packets. A NIC numbers what it sends, but only if a link loses packets by their ID.
class IpIds {
 public:
  explicit IpIds(const PacketPool& pool) : ids_(pool) {}

  void add_nic(std::uint64_t first) { next_.push_back(static_cast<std::uint16_t>(first)); }
  void count() { are_counted_ = true; }
  bool are_counted() const { return are_counted_; }

  // Packets are numbered at the end of their first link, where they come in the order they left.
  void number(std::uint32_t nic, PacketIndex index) { ids_[index] = next_[nic]++; }
  std::uint16_t of(PacketIndex index) { return are_counted_ ? ids_[index] : std::uint16_t{0}; }
  void set(PacketIndex index, std::uint16_t id) {
    if (are_counted_) ids_[index] = id;
  }

 private:
  bool are_counted_ = false;
  std::vector<std::uint16_t> next_;  // by NIC
  PacketTable<std::uint16_t> ids_;
};

}  // namespace simulator
