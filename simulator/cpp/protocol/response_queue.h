// Responses to READs, and the turns that they take with a NIC's verbs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>

#include "protocol/packet_kind.h"
#include "protocol/responders.h"

namespace simulator {

// Pending packets of the responder of a reliable connection: the responses to READs, and behind them the
// acknowledgements of later packets, because replies keep the order of the requests.
// Source: InfiniBand architecture, volume 1, 9.7.5 (responder); Linux rxe (rxe_resp.c, read_reply).
class ResponseQueue {
 public:
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }

  // A READ of `packets` responses, with the time that its request took to arrive. A repeated request supersedes
  // the rest of its first execution, and everything after it.
  void add_read(std::uint32_t psn, std::uint32_t packets, const PacketDetails& details,
                Picoseconds request_took) {
    forget_from(psn);
    entries_.push_back({PacketKind::kReadResponse, psn, packets, true, details, request_took});
  }

  void add_reply(const Reply& reply) {
    const PacketKind kind = reply.kind == ReplyKind::kAck ? PacketKind::kAck : PacketKind::kNak;
    entries_.push_back({kind, reply.psn, 1, false, {}, {}});
  }

  PacketDescription next(std::uint32_t mtu_bytes) const {
    const Entry& entry = entries_.front();
    PacketDescription packet{entry.kind, 0, entry.psn, 0, entry.details, entry.request_took};
    if (entry.kind != PacketKind::kReadResponse) return packet;
    const bool is_last = entry.packets_left == 1;
    packet.payload_bytes =
        static_cast<std::uint32_t>(std::min<std::int64_t>(entry.details.length.value, mtu_bytes));
    packet.flags = static_cast<std::uint8_t>((entry.is_first ? PacketFlags::kFirst : 0) |
                                             (is_last ? PacketFlags::kLast : 0));
    return packet;
  }

  // That packet has left.
  void on_sent(const PacketDescription& packet) {
    Entry& entry = entries_.front();
    if (--entry.packets_left == 0) return entries_.pop_front();
    entry.is_first = false;
    ++entry.psn;
    entry.details.length.value -= packet.payload_bytes;
    entry.details.local_offset += packet.payload_bytes;
    entry.details.remote_offset += packet.payload_bytes;
  }

 private:
  struct Entry {
    PacketKind kind;
    std::uint32_t psn;  // of the next response
    std::uint32_t packets_left;
    bool is_first;
    PacketDetails details;  // `length` is what is left
    Picoseconds request_took;
  };

  void forget_from(std::uint32_t psn) {
    while (!entries_.empty()) {
      Entry& entry = entries_.back();
      const std::int32_t ahead = psn_distance(psn, entry.psn);
      if (ahead > 0) {
        entry.packets_left = std::min(entry.packets_left, static_cast<std::uint32_t>(ahead));
        return;
      }
      entries_.pop_back();
    }
  }

  std::deque<Entry> entries_;
};

// Which priority sends next: those without a weight first, the largest number first; those with one share
// what is left in proportion to their weights. Source: Shreedhar and Varghese, "Efficient fair queuing using
// deficit round-robin", SIGCOMM 1995.
using PriorityWeights = std::array<std::uint32_t, kPriorities>;  // 0: none

class WeightedTurns {
 public:
  explicit WeightedTurns(const PriorityWeights& weights) : weights_(weights) {
    for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
      if (weights[priority] != 0) weighted_ |= mask_of(priority);
    }
  }

  // One of `may_go`, which is not empty. `frame_bytes(priority)` is the size of its first frame, which counts
  // as sent.
  template <class FrameBytes>
  std::uint32_t next(PriorityMask may_go, FrameBytes&& frame_bytes) {
    const auto strict = static_cast<PriorityMask>(may_go & ~weighted_);
    if (strict != 0) return highest_of(strict);
    for (;; go_to_next_priority()) {
      if (!has_priority(may_go, turn_)) continue;
      if (!has_begun_) deficits_[turn_] += kQuantumBytes * weights_[turn_];
      has_begun_ = true;
      const std::int64_t frame = frame_bytes(turn_);
      if (deficits_[turn_] < frame) continue;
      deficits_[turn_] -= frame;
      return turn_;
    }
  }

  // A priority that has nothing to send keeps no credit.
  void on_empty(std::uint32_t priority) { deficits_[priority] = 0; }

 private:
  // Of one turn and weight 1: an Ethernet frame of the usual size.
  static constexpr std::int64_t kQuantumBytes = 1518;

  void go_to_next_priority() {
    turn_ = (turn_ + 1) % kPriorities;
    has_begun_ = false;
  }

  PriorityWeights weights_;
  PriorityMask weighted_ = 0;
  std::uint32_t turn_ = 0;
  bool has_begun_ = false;  // this turn, with its quantum
  std::array<std::int64_t, kPriorities> deficits_{};
};

}  // namespace simulator
