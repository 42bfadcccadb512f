// Who waits for whom.
#pragma once

#include <cstdint>
#include <vector>

namespace simulator {

// A port that has something to send, but was told to pause; and where at the far end lies what came over it.
struct Wait {
  std::uint32_t link;
  std::uint32_t priority;
  std::vector<std::uint32_t> behind{};  // ports of the far end; none if that is a host
};

}  // namespace simulator
