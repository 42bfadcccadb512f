// The TCPs, by name. A new one is a header and its name here.
#pragma once

#include <array>

#include "tcp/cubic.h"
#include "tcp/dctcp.h"
#include "tcp/reno.h"

namespace simulator {

inline constexpr std::array kTcps = {kReno, kDctcp, kCubic, kIwarp};

}  // namespace simulator
