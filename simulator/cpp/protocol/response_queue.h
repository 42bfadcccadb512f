// What the responder of a reliable connection has yet to send: the responses to READs, and behind them the
// acknowledgements of later packets, because replies keep the order of the requests.
// Source: InfiniBand architecture, volume 1, 9.7.5 (responder); Linux rxe (rxe_resp.c, read_reply).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "protocol/packet_kind.h"
#include "protocol/psn.h"
#include "protocol/rc_responder.h"

namespace simulator {

class ResponseQueue {
 public:
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }

  // A READ of `packets` responses, whose request took so long to get here. A request that comes again
  // supersedes what is left of its first execution, and of everything after it.
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

}  // namespace simulator
