// Read-only views of a world whose links have all caught up: invariants, counters, and ports that wait for each other.
#pragma once

#include <vector>

#include "engine/controls.h"
#include "engine/world.h"
#include "results/recorder.h"

namespace simulator {

// The invariants of a world. Checking costs about as much as visiting every packet.
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

// Counters of ports and queue pairs.
std::vector<Counter> counters_of(const World& world, const NicControls& controls);

// Paused ports with something to send, and the ports that they wait for.
std::vector<Wait> waits_in(const World& world, Picoseconds now);

}  // namespace simulator
