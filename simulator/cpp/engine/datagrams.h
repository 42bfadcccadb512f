// Unreliable datagrams: one packet each, that leaves its NIC like an acknowledgement, before data and without
// a limiter.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/packet.h"
#include "protocol/queue_pair.h"

namespace simulator {

class Datagrams {
 public:
  std::uint32_t add_queue_pair(std::uint32_t nic) {
    nics_.push_back(nic);
    return static_cast<std::uint32_t>(nics_.size() - 1);
  }
  std::uint32_t nic_of(std::uint32_t queue_pair) const { return nics_[queue_pair]; }

  void send(PacketIndex index, Datagram datagram) {
    ++sent_;
    under_way_.emplace(index, std::move(datagram));
  }
  Datagram receive(PacketIndex index) {
    ++received_;
    return std::move(under_way_.extract(index).mapped());
  }
  void copy(PacketIndex from, PacketIndex to) {
    ++sent_;
    under_way_.emplace(to, under_way_.at(from));
  }
  std::uint32_t source_of(PacketIndex index) const { return under_way_.at(index).source; }
  // Lost on a link or refused by a buffer.
  void lose(PacketIndex index) {
    under_way_.erase(index);
    ++missing_;
  }

  void check(Picoseconds now) const {
    SIM_CHECK(sent_ == received_ + missing_ + under_way_.size(), now, "datagrams",
              "datagrams sent differ from those accounted for");
  }

 private:
  std::vector<std::uint32_t> nics_;  // of each datagram queue pair
  std::unordered_map<PacketIndex, Datagram> under_way_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t missing_ = 0;
};

}  // namespace simulator
