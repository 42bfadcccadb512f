// Strong types for time, size and rate: they cannot be mixed up, and cost nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace simulator {

template <class Tag>
struct Quantity {
  std::int64_t value = 0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
};

using Picoseconds = Quantity<struct PicosecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using BitsPerSecond = Quantity<struct BitsPerSecondTag>;

inline constexpr Picoseconds kNever{std::numeric_limits<std::int64_t>::max()};
inline constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

constexpr double picoseconds_per_byte(BitsPerSecond rate) {
  return 8e12 / static_cast<double>(rate.value);
}

// Exact up to the rounding to whole picoseconds: the product stays far below 2^53.
constexpr Picoseconds duration_of(Bytes size, double ps_per_byte) {
  return {static_cast<std::int64_t>(static_cast<double>(size.value) * ps_per_byte + 0.5)};
}

}  // namespace simulator
