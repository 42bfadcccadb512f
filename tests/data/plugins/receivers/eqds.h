// The receiver of EQDS: it knows what each sender has waiting, and grants to all that have something, a packet's worth
// each in turn, at a little less than the line's rate. What a sender begins with is speculative; what of that is
// trimmed is granted again. Source: Olteanu et al., "An edge-queued datagram service for all datacenter traffic",
// NSDI 2022.
#pragma once

#include <rogue/receiver_control.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

class Eqds final : public rogue::ReceiverControl {
 public:
  Eqds(const rogue::Parameters& parameters, const rogue::Host& host)
      : each_bytes_(parameters.whole("credit_packets") * (host.mtu_bytes + host.header_bytes)),
        ps_per_byte_(8e12 / static_cast<double>(host.rate_bps) / parameters.at("share")) {}

  void on_arrival(const rogue::Received& packet) override {
    if (packet.connection >= senders_.size()) senders_.resize(packet.connection + 1);
    Sender& sender = senders_[packet.connection];
    sender.backlog_bytes = packet.asked_bytes - packet.granted_bytes;
    if (packet.is_trimmed && !packet.is_duplicate) sender.cut_bytes += packet.payload_bytes;
    sender.is_deaf = packet.is_request;
    if (sender.has_turn() && !sender.is_active) activate(packet.connection);
    next_ps_ = std::max(next_ps_, packet.now_ps);
  }

  std::int64_t next_turn_ps() const override { return active_.empty() ? rogue::kNever : next_ps_; }

  rogue::Grant on_turn(std::int64_t now_ps) override {
    const std::uint32_t number = active_.front();
    active_.pop_front();
    Sender& sender = senders_[number];
    const std::int64_t owed_bytes = std::max({std::int64_t{0}, sender.backlog_bytes, sender.cut_bytes});
    const std::int64_t bytes = std::min(owed_bytes, each_bytes_);
    sender.backlog_bytes -= bytes;
    sender.cut_bytes = std::max<std::int64_t>(0, sender.cut_bytes - bytes);
    sender.is_active = sender.is_deaf = false;
    if (sender.has_turn()) activate(number);
    const auto counted = static_cast<double>(std::max(bytes, rogue::kCreditUnitBytes));
    next_ps_ = now_ps + static_cast<std::int64_t>(counted * ps_per_byte_);
    return {.connection = number, .bytes = bytes};
  }

 private:
  struct Sender {
    std::int64_t backlog_bytes = 0;  // that no credit is for
    std::int64_t cut_bytes = 0;      // of packets that came without their payload, which it did not count
    bool is_deaf = false;            // it waits for credit, and may have lost a grant
    bool is_active = false;

    bool has_turn() const { return backlog_bytes > 0 || cut_bytes > 0 || is_deaf; }
  };

  void activate(std::uint32_t number) {
    senders_[number].is_active = true;
    active_.push_back(number);
  }

  std::int64_t each_bytes_;
  double ps_per_byte_;
  std::vector<Sender> senders_;
  std::deque<std::uint32_t> active_;
  std::int64_t next_ps_ = 0;
};

ROGUE_RECEIVER_CONTROL(Eqds, "eqds", "credit in turn for all that have something waiting (EQDS)",
                       {"credit_packets", 1, 1, 1'000, "full packets of a grant"},
                       {"share", 0.99, 0.01, 1, "of the line's rate"});
