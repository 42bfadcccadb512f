// Counters of ports and queue pairs, for people. All links have been caught up.
#pragma once

#include <vector>

#include "engine/controls.h"
#include "engine/world.h"
#include "results/records.h"

namespace simulator {

std::vector<Counter> counters_of(const World& world, const Controls& controls);

}  // namespace simulator
