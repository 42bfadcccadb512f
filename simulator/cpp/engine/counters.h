// Counters of ports and queue pairs, and ports that wait for each other. All links have caught up.
#pragma once

#include <vector>

#include "engine/controls.h"
#include "engine/world.h"
#include "results/records.h"

namespace simulator {

// Counters of ports and queue pairs, for people. All links have been caught up.

std::vector<Counter> counters_of(const World& world, const Controls& controls);

// Who waits for whom, for people: when nothing moves any more. All links have been caught up.

std::vector<Wait> waits_in(const World& world, Picoseconds now);

}  // namespace simulator
