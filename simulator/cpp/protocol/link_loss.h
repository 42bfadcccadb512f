// Why packets do not reach the far end of a directed link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "base/units.h"

namespace simulator {

// A packet at the far end.
struct Passage {
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

  // Asked once for each packet, in order. A packet that was under way during a cut is lost.
  bool loses(const Passage& packet) {
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

}  // namespace simulator
