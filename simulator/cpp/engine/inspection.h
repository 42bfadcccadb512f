// The invariants of a world, with all its links caught up. They cost about as much as looking at every
// packet.
#pragma once

#include "engine/world.h"

namespace simulator {

class Audit {
 public:
  Audit(const World& world, Picoseconds now) : world_(world), now_(now) {}

  // Throws InvariantViolation.
  void run() const;

 private:
  void check_buffers() const;
  void check_accounts() const;
  void check_inputs() const;
  void check_queue_pairs() const;

  const World& world_;
  Picoseconds now_;
};

}  // namespace simulator
