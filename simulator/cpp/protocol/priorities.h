// The eight priorities of a frame. A larger number goes first. Source: IEEE 802.1Q, priority code point and
// strict priority algorithm.
#pragma once

#include <bit>
#include <cstdint>

namespace simulator {

inline constexpr std::uint32_t kPriorities = 8;

using PriorityMask = std::uint8_t;  // bit p stands for priority p

constexpr PriorityMask mask_of(std::uint32_t priority) {
  return static_cast<PriorityMask>(1U << priority);
}
constexpr bool has_priority(PriorityMask mask, std::uint32_t priority) {
  return ((mask >> priority) & 1) != 0;
}
constexpr int count_of(PriorityMask mask) {
  return std::popcount(mask);
}

// Calls `visit(priority)` for each one in the mask, the largest first.
template <class Visit>
constexpr void for_each_priority(PriorityMask mask, Visit&& visit) {
  for (std::uint32_t priority = kPriorities; priority-- > 0;) {
    if (has_priority(mask, priority)) visit(priority);
  }
}

}  // namespace simulator
