// What switches do without a control: the port that the hash says.
#pragma once

#include <rogue/switch_control.h>

#include <cstdint>

class Hashed final : public rogue::SwitchControl {
 public:
  Hashed(const rogue::Parameters&, const rogue::Place&) {}

  std::uint32_t choose(const rogue::Choice& choice) override { return choice.hashed; }
};

ROGUE_SWITCH_CONTROL(Hashed, "hashed", "the port that the hash says");
