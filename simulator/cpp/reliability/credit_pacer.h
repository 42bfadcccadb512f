// What a host's receivers grant to their senders comes one grant after the other, at a little less than the rate of
// its link: so their sum never fills the queue in front of it. Those whose senders ask take turns; while nobody asks,
// those that were satisfied have some credit ahead, for what their senders begin next. It keeps no clock. Source:
// Ultra Ethernet specification 1.0, congestion management (RCCC); uet-htsim's uec.cpp (commit 40ccb05: UecPullPacer).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "base/units.h"

namespace simulator {

class CreditPacer {
 public:
  struct Turn {
    std::uint32_t qp;
    bool is_idle;  // nobody asks
  };

  // This receiver's sender asks for credit.
  void want(std::uint32_t qp) {
    Place& place = places_.try_emplace(qp, Place::kNowhere).first->second;
    if (place == Place::kAsking) return;
    if (place == Place::kIdle) std::erase(idle_, qp);
    place = Place::kAsking;
    asking_.push_back(qp);
  }

  // When the next turn is; kNever if nobody has one.
  Picoseconds deadline() const { return asking_.empty() && idle_.empty() ? kNever : free_; }

  // Whose turn it is. The caller says afterwards where it goes and how long it takes.
  Turn take() {
    const bool is_idle = asking_.empty();
    std::deque<std::uint32_t>& queue = is_idle ? idle_ : asking_;
    const std::uint32_t qp = queue.front();
    queue.pop_front();
    places_[qp] = Place::kNowhere;
    return {qp, is_idle};
  }

  void wait_for_idle_moments(std::uint32_t qp) {
    places_[qp] = Place::kIdle;
    idle_.push_back(qp);
  }
  void wait_until(Picoseconds free) { free_ = free; }

 private:
  enum class Place : std::uint8_t { kNowhere, kAsking, kIdle };

  std::deque<std::uint32_t> asking_;
  std::deque<std::uint32_t> idle_;
  std::unordered_map<std::uint32_t, Place> places_;
  Picoseconds free_;
};

}  // namespace simulator
