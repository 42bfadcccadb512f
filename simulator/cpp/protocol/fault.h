// Faults of links, routes and packets: losses, outages, and routes that lead to no host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/configuration.h"
#include "base/fields.h"
#include "base/random_stream.h"
#include "base/units.h"
#include "protocol/packet_event.h"

namespace simulator {

// Faults that can be injected: one struct per fault, with its Python name and the names of its fields. A new fault is a
// struct here and in `Fault`; each engine implements it: engine/faults.cpp and
// tests/simulator/reference_engine/engine_faults.cpp.

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

// A NIC pauses all lossless priorities of its switch, or resumes them.
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

// A NIC drains its receive buffer at a limited rate and pauses its switch by thresholds.
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

using Fault = std::variant<LinkCut, Rerouting, NicPause, SlowReceiver, PacketEvent>;

// Why packets do not reach the far end of a directed link.

// A packet at the far end.
struct PacketTransit {
  Picoseconds sent;  // its first bit entered the link
  Picoseconds arrival;
  std::uint16_t ip_id;
};

class LinkLoss {
 public:
  LinkLoss(const LossConfiguration& model, RandomStream stream) : model_(model), stream_(stream) {}

  // The cable carries nothing from `start` until `end`.
  void cut(Picoseconds start, Picoseconds end) { cuts_.push_back({start, end}); }

  bool is_possible() const { return model_.kind != LossKind::kNone || !cuts_.empty(); }

  // Called once for each packet, in order. A packet on the cable during a cut is lost.
  bool loses(const PacketTransit& packet) {
    const auto hits = [&](const Cut& cut) { return packet.sent < cut.end && packet.arrival >= cut.start; };
    if (std::any_of(cuts_.begin(), cuts_.end(), hits)) return true;
    if (packet.arrival < model_.from || packet.arrival >= model_.until) return false;
    switch (model_.kind) {
      case LossKind::kNone:
        return false;
      case LossKind::kIndependent:
        return stream_.next_fraction() < model_.loss_probability;
      case LossKind::kBurst:
        return loses_in_bursts();
      case LossKind::kIpId:
        return (packet.ip_id & model_.ip_id_mask) == model_.ip_id_mask;
    }
    return false;
  }

 private:
  struct Cut {
    Picoseconds start;
    Picoseconds end;
  };

  // Each packet may change the state of the line, and is then lost with the probability of that state.
  // Source: Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, 1963.
  bool loses_in_bursts() {
    if (stream_.next_fraction() < (is_bad_ ? model_.to_good_probability : model_.to_bad_probability)) {
      is_bad_ = !is_bad_;
    }
    return stream_.next_fraction() < (is_bad_ ? model_.loss_probability : model_.good_loss_probability);
  }

  LossConfiguration model_;
  RandomStream stream_;
  std::vector<Cut> cuts_;
  bool is_bad_ = false;
};

// Markers at the end of a route that leads to no host, in place of a link number.

// The packet has made as many hops as it may: RFC 791, section 3.2 (time to live).
inline constexpr std::uint32_t kExpires = std::numeric_limits<std::uint32_t>::max();
// The switch does not know where the destination is and sends a copy out of every other port: Guo et al.,
// "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2.
inline constexpr std::uint32_t kFloods = kExpires - 1;

constexpr bool is_route_end(std::uint32_t link) {
  return link >= kFloods;
}

}  // namespace simulator
