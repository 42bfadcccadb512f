// Who waits for whom, for people: when nothing moves any more. All links have been caught up.
#pragma once

#include <vector>

#include "engine/world.h"
#include "results/wait.h"

namespace simulator {

std::vector<Wait> waits_in(const World& world, Picoseconds now);

}  // namespace simulator
