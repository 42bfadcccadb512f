// Receiver-credit congestion control of Ultra Ethernet (RCCC), as the simulator's own `uet+rccc` has it: connections that
// ask take turns; in idle moments those that were satisfied have some credit ahead. Source: Ultra Ethernet
// specification 1.0, congestion management (RCCC); numbers: uet-htsim, uec.cpp (commit 40ccb05: UecSink, UecPullPacer).
#pragma once

#include <rogue/receiver_control.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

class Rccc final : public rogue::ReceiverControl {
 public:
  Rccc(const rogue::Parameters& parameters, const rogue::Host& host)
      : each_bytes_(std::max(kUnit, parameters.whole("credit_packets") * host.mtu_bytes / kUnit * kUnit)),
        ahead_max_bytes_(host.credit_max_bytes / kUnit * kUnit),
        ps_per_byte_(8e12 / static_cast<double>(host.rate_bps) / parameters.at("credit_rate")) {}

  void on_arrival(const rogue::Received& packet) override {
    if (packet.connection >= connections_.size()) connections_.resize(packet.connection + 1);
    Connection& connection = connections_[packet.connection];
    const bool asks_more = packet.asked_bytes > connection.asked_bytes;
    connection.asked_bytes = packet.asked_bytes;
    const bool asks_again = packet.is_request || (packet.is_trimmed && !packet.is_duplicate);
    if (asks_more || asks_again) want(packet.connection);
    now_ps_ = packet.now_ps;
  }

  std::int64_t next_turn_ps() const override {
    return asking_.empty() && idle_.empty() ? rogue::kNever : std::max(now_ps_, free_ps_);
  }

  rogue::Grant on_turn(std::int64_t now_ps) override {
    const bool is_idle = asking_.empty();
    std::deque<std::uint32_t>& queue = is_idle ? idle_ : asking_;
    const std::uint32_t number = queue.front();
    queue.pop_front();
    Connection& connection = connections_[number];
    connection.place = kNowhere;
    const std::int64_t owed_bytes =
        std::max<std::int64_t>(0, connection.asked_bytes - connection.granted_bytes);
    const std::int64_t bytes = is_idle ? each_bytes_ : std::min(each_bytes_, owed_bytes);
    connection.granted_bytes += bytes;
    const std::int64_t ahead_bytes = connection.granted_bytes - connection.asked_bytes;
    if (ahead_bytes < 0) {
      want(number);
    } else if (!is_idle || ahead_bytes < ahead_max_bytes_) {
      connection.place = kIdle;
      idle_.push_back(number);
    }
    const auto counted = static_cast<double>(bytes == 0 ? kBytesOfNothing : bytes);
    free_ps_ = now_ps + static_cast<std::int64_t>(counted * ps_per_byte_ + 0.5);
    return {.connection = number, .bytes = bytes};
  }

 private:
  static constexpr std::int64_t kUnit = rogue::kCreditUnitBytes;
  static constexpr std::int64_t kBytesOfNothing = 1024;  // that a turn takes which grants nothing

  enum Place : std::uint8_t { kNowhere, kAsking, kIdle };
  struct Connection {
    std::int64_t asked_bytes = 0;
    std::int64_t granted_bytes = 0;
    Place place = kNowhere;
  };

  void want(std::uint32_t number) {
    Place& place = connections_[number].place;
    if (place == kAsking) return;
    if (place == kIdle) std::erase(idle_, number);
    place = kAsking;
    asking_.push_back(number);
  }

  std::int64_t each_bytes_;  // of a grant
  std::int64_t ahead_max_bytes_;
  double ps_per_byte_;
  std::vector<Connection> connections_;
  std::deque<std::uint32_t> asking_;
  std::deque<std::uint32_t> idle_;
  std::int64_t now_ps_ = 0;
  std::int64_t free_ps_ = 0;
};

ROGUE_RECEIVER_CONTROL(Rccc, "rccc_outside", "credits in turn, at a little less than the line's rate (RCCC)",
                       {"credit_packets", 4, 1, 1'000, "full packets of a grant"},
                       {"credit_rate", 0.99, 0.01, 1,
                        "of the line, which is granted to all senders together"});
