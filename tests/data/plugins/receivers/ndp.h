// The receiver of NDP: each packet that comes, whole or trimmed to its header, is worth one packet more of its
// connection. These pulls are paced at the line's rate, and connections take turns. So as much is under way as after
// the first window, and the queue in front of the receiver does not grow. Source: Handley et al., "Re-architecting
// datacenter networks and stacks for low latency and high performance", SIGCOMM 2017, section 3.2. Deviation: a
// sender reports its backlog, so only senders with data are pulled; a sender without pulls requests one.
#pragma once

#include <rogue/receiver_control.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

class Ndp final : public rogue::ReceiverControl {
 public:
  Ndp(const rogue::Parameters& parameters, const rogue::Host& host)
      : packet_bytes_(host.mtu_bytes + host.header_bytes),
        pause_ps_(static_cast<std::int64_t>(static_cast<double>(packet_bytes_) * 8e12 /
                                            static_cast<double>(host.rate_bps) / parameters.at("share"))) {}

  void on_arrival(const rogue::Received& packet) override {
    if (packet.connection >= pulls_.size()) pulls_.resize(packet.connection + 1);
    std::int64_t& pulls = pulls_[packet.connection];
    const bool wants_more = packet.asked_bytes > packet.granted_bytes + pulls * packet_bytes_;
    if (!wants_more && !packet.is_trimmed && !packet.is_request) return;
    if (pulls++ == 0) turns_.push_back(packet.connection);
    next_ps_ = std::max(next_ps_, packet.now_ps);
  }

  std::int64_t next_turn_ps() const override { return turns_.empty() ? rogue::kNever : next_ps_; }

  rogue::Grant on_turn(std::int64_t now_ps) override {
    const std::uint32_t connection = turns_.front();
    turns_.pop_front();
    if (--pulls_[connection] > 0) turns_.push_back(connection);
    next_ps_ = now_ps + pause_ps_;
    return {.connection = connection, .bytes = packet_bytes_};
  }

 private:
  std::int64_t packet_bytes_;
  std::int64_t pause_ps_;
  std::vector<std::int64_t> pulls_;  // that wait, by connection
  std::deque<std::uint32_t> turns_;  // of connections with some
  std::int64_t next_ps_ = 0;
};

ROGUE_RECEIVER_CONTROL(Ndp, "ndp", "a packet's pull for each that comes, paced at the line (NDP)",
                       {"share", 0.99, 0.01, 1, "of the line's rate"});
