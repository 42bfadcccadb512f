// What can be made to go wrong in an engine: one struct per fault, with the names that Python gives it and its
// fields. A new one stands here, in `Fault` too, and each engine says what it does then: engine/faults.cpp and
// reference/engine_faults.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/units.h"

namespace simulator {

// A link carries nothing for a while, in one direction.
struct LinkCut {
  static constexpr std::string_view kName = "link_cut";
  std::uint32_t link = 0;
  Picoseconds start;
  Picoseconds end;
};
template <>
struct FieldsOf<LinkCut> {
  static constexpr auto kTable = std::tuple(Field{"link", &LinkCut::link}, Field{"start_ns", &LinkCut::start},
                                            Field{"end_ns", &LinkCut::end});
};

// From now on switches leave these links out, in both directions, and all others in. Where a switch has no way
// left to a host it sends as if nothing were left out.
struct Rerouting {
  static constexpr std::string_view kName = "rerouting";
  std::vector<std::uint32_t> left_out;  // one direction of each
};
template <>
struct FieldsOf<Rerouting> {
  static constexpr auto kTable = std::tuple(Field{"left_out", &Rerouting::left_out});
};

// A NIC tells its switch to pause all priorities that lose nothing, or to go on.
struct NicPause {
  static constexpr std::string_view kName = "nic_pause";
  std::uint32_t host = 0;
  bool is_pausing = false;
};
template <>
struct FieldsOf<NicPause> {
  static constexpr auto kTable =
      std::tuple(Field{"host", &NicPause::host}, Field{"is_pausing", &NicPause::is_pausing});
};

// A NIC takes in only so much per second, from a buffer with thresholds for pausing.
struct SlowReceiver {
  static constexpr std::string_view kName = "slow_receiver";
  std::uint32_t host = 0;
  BitsPerSecond rate;
  Bytes size;
  Bytes xoff;
  Bytes xon;
};
template <>
struct FieldsOf<SlowReceiver> {
  static constexpr auto kTable =
      std::tuple(Field{"host", &SlowReceiver::host}, Field{"rate_bps", &SlowReceiver::rate},
                 Field{"buffer_bytes", &SlowReceiver::size}, Field{"xoff_bytes", &SlowReceiver::xoff},
                 Field{"xon_bytes", &SlowReceiver::xon});
};

using Fault = std::variant<LinkCut, Rerouting, NicPause, SlowReceiver>;

}  // namespace simulator
