// DCTCP's marking, as the engine has it: a packet that finds more than a threshold waiting is marked.
#pragma once

#include <rogue/switch_control.h>

#include <cstdint>

class Step final : public rogue::SwitchControl {
 public:
  Step(const rogue::Parameters& parameters, const rogue::Place&)
      : above_bytes_(parameters.whole("above_bytes")) {}

  // Source: RFC 8257, section 3.1.
  rogue::Verdict on_arrival(const rogue::Arrival& arrival) override {
    return arrival.queue_bytes > above_bytes_ ? rogue::Verdict::kMark : rogue::Verdict::kTake;
  }

 private:
  std::int64_t above_bytes_;
};

ROGUE_SWITCH_CONTROL(Step, "step", "marks what finds more than a threshold waiting",
                     {"above_bytes", 98'670, 0, 1e12, "what may wait before packets are marked"});
