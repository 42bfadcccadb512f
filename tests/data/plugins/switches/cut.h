// Trimming, as the engine has it: a packet that must wait behind a full queue loses its payload.
#pragma once

#include <rogue/switch_control.h>

#include <cstdint>

class Cut final : public rogue::SwitchControl {
 public:
  static constexpr bool trims = true;

  Cut(const rogue::Parameters& parameters, const rogue::Place&)
      : above_bytes_(parameters.whole("above_bytes")) {}

  rogue::Verdict on_arrival(const rogue::Arrival& arrival) override {
    const bool is_full = arrival.queue_bytes + arrival.packet.frame_bytes > above_bytes_;
    return arrival.must_wait != 0 && is_full ? rogue::Verdict::kTrim : rogue::Verdict::kTake;
  }

 private:
  std::int64_t above_bytes_;
};

ROGUE_SWITCH_CONTROL(Cut, "cut", "cuts payloads off behind a full queue",
                     {"above_bytes", 20'000, 0, 1e12, "what may wait before payloads are cut off"});
