// IP IDs of packets. A NIC counts what it sends; nobody counts unless a link loses packets by their ID.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/packet_table.h"

namespace simulator {

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
