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

// Of a mask that is not empty.
constexpr std::uint32_t highest_of(PriorityMask mask) {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(mask))) - 1;
}

// Calls `visit(priority)` for each one in the mask, the largest first.
template <class Visit>
constexpr void for_each_priority(PriorityMask mask, Visit&& visit) {
  while (mask != 0) {
    const std::uint32_t priority = highest_of(mask);
    mask &= static_cast<PriorityMask>(~mask_of(priority));
    visit(priority);
  }
}

}  // namespace simulator
