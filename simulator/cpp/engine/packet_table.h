// What only some packets carry, by packet: it grows with the pool.
#pragma once

#include <vector>

#include "engine/packet_pool.h"

namespace simulator {

template <class Item>
class PacketTable {
 public:
  explicit PacketTable(const PacketPool& pool) : pool_(pool) {}

  // Left over from another packet, until somebody writes it.
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

}  // namespace simulator
