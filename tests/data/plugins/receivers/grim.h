// A control of receivers that is wrong in the way that its parameter says.
#pragma once

#include <rogue/receiver_control.h>

#include <cstdint>
#include <stdexcept>

class Grim final : public rogue::ReceiverControl {
 public:
  Grim(const rogue::Parameters& parameters, const rogue::Host& host)
      : mood_(parameters.whole("mood")), random_(host.random_state) {
    if (mood_ == 1) throw std::runtime_error("not today");
    if (mood_ == 2) parameters.at("temper");
  }

  void on_arrival(const rogue::Received& packet) override {
    if (mood_ == 3) rogue::fail("tired");
    if (packet.connection >= connections_) connections_ = packet.connection + 1;
    next_ps_ = mood_ == 4 ? packet.now_ps - 1 : packet.now_ps;
    if (mood_ == 10 && random_.next_fraction() < 0.5) next_ps_ += static_cast<std::int64_t>(drawn(2'000'000));
    if (mood_ == 10 && random_.next_fraction() < 0.05) next_ps_ = rogue::kNever;
  }

  std::int64_t next_turn_ps() const override { return next_ps_; }

  rogue::Grant on_turn(std::int64_t now_ps) override {
    if (mood_ == 5) throw 5;
    next_ps_ = mood_ == 6 ? now_ps : rogue::kNever;
    if (mood_ == 7) return {.connection = 1'000, .bytes = 1};
    if (mood_ == 8) return {.connection = 0, .bytes = -1};
    if (mood_ == 9) return {.connection = 0, .bytes = std::int64_t{1} << 40};
    if (mood_ != 10) return {.connection = 0, .bytes = 0};
    next_ps_ = now_ps + 1 + static_cast<std::int64_t>(drawn(1'000'000));
    if (random_.next_fraction() < 0.1) return {};
    return {.connection = static_cast<std::uint32_t>(drawn(connections_)),
            .bytes = static_cast<std::int64_t>(random_.next_fraction() < 0.3 ? 0 : drawn(9'000))};
  }

 private:
  std::uint64_t drawn(std::uint64_t below) { return random_.next_bits() % below; }

  std::int64_t mood_;
  std::int64_t next_ps_ = rogue::kNever;
  std::uint32_t connections_ = 1;
  rogue::Random random_;
};

ROGUE_RECEIVER_CONTROL(Grim, "grim_grants", "it does what it likes",
                       {"mood", 0, 0, 10, "what is wrong with it"});
