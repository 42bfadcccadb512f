// Packet sequence numbers: 24 bits on the wire, counted in 64 bits at both ends.
#pragma once

#include <cstdint>

namespace simulator {

// A running number starts one round above the number on the wire, so that nothing before it is negative.
inline constexpr std::uint64_t kPsnRound = std::uint64_t{1} << 24;

// The part of a running number that a packet carries.
constexpr std::uint32_t packet_psn(std::uint64_t running) {
  return static_cast<std::uint32_t>(running) & (static_cast<std::uint32_t>(kPsnRound) - 1);
}

// How far a packet's number lies ahead of a running number, from -2^23 to 2^23 - 1.
// Source: InfiniBand architecture, volume 1, 9.7.2 (PSN comparison, modulo 2^24).
constexpr std::int32_t psn_distance(std::uint32_t psn, std::uint64_t running) {
  return static_cast<std::int32_t>((psn - static_cast<std::uint32_t>(running)) << 8) >> 8;
}

}  // namespace simulator
