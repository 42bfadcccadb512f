// A part of switches that is wrong in the way that its parameter says.
#pragma once

#include <rogue/switch_control.h>

#include <cstdint>
#include <stdexcept>

class Grim final : public rogue::SwitchControl {
 public:
  static constexpr bool wants_queues = true;

  Grim(const rogue::Parameters& parameters, const rogue::Place& place)
      : mood_(parameters.whole("mood")), random_(place.random_state) {
    if (mood_ == 1) throw std::runtime_error("not today");
    if (mood_ == 2) parameters.at("temper");
  }

  rogue::Verdict on_arrival(const rogue::Arrival&) override {
    if (mood_ == 3) rogue::fail("tired");
    if (mood_ == 4) return rogue::Verdict::kTrim;
    return mood_ == 8 && random_.next_fraction() < 0.3 ? rogue::Verdict::kDrop : rogue::Verdict::kTake;
  }
  rogue::Verdict on_departure(const rogue::Departure& departure) override {
    if (mood_ == 5) throw 5;
    if (mood_ == 6) return static_cast<rogue::Verdict>(17);
    if (mood_ != 8 || random_.next_fraction() < 0.7) return rogue::Verdict::kTake;
    return departure.waited_ps % 2 == 0 ? rogue::Verdict::kDrop : rogue::Verdict::kMark;
  }
  std::uint32_t choose(const rogue::Choice& choice) override {
    const auto count = static_cast<std::uint32_t>(choice.ports.size());
    if (mood_ == 7) return count;
    std::uint64_t bits = random_.next_bits();
    for (const rogue::EqualPort& port : choice.ports)
      bits += static_cast<std::uint64_t>(port.queue_bytes + port.sent_bytes) + port.is_sending + port.number;
    return static_cast<std::uint32_t>(bits % count);
  }

 private:
  std::int64_t mood_;
  rogue::Random random_;
};

ROGUE_SWITCH_CONTROL(Grim, "grim", "it does what it likes", {"mood", 0, 0, 9, "what is wrong with it"});
