// Who waits for bytes of a queue pair to arrive at the other end. A receiver's software sees them in its memory;
// the sender's NIC says nothing before their acknowledgement is back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units.h"

namespace simulator {

class DeliveryWatch {
 public:
  bool is_empty() const { return waiting_.empty(); }

  void add(std::uint32_t qp, Bytes delivered, std::uint32_t call) {
    waiting_[qp].push({delivered, next_++, call});
    if (least_.size() <= qp) least_.resize(qp + 1, kNothing);
    least_[qp] = std::min(least_[qp], delivered);
  }

  // Somebody waits for no more than this. Every packet asks.
  bool is_due(std::uint32_t qp, Bytes delivered) const {
    return qp < least_.size() && delivered >= least_[qp];
  }

  // Calls `reach(call)` for each one who waited for no more than this, the fewest bytes first.
  template <class Reach>
  void check(std::uint32_t qp, Bytes delivered, Reach&& reach) {
    const auto found = waiting_.find(qp);
    if (found == waiting_.end()) return;
    Waits& waits = found->second;
    for (; !waits.empty() && waits.top().delivered <= delivered; waits.pop()) reach(waits.top().call);
    least_[qp] = waits.empty() ? kNothing : waits.top().delivered;
    if (waits.empty()) waiting_.erase(found);
  }

  // What was posted here will not arrive any more.
  void forget(std::uint32_t qp) {
    if (waiting_.erase(qp) != 0) least_[qp] = kNothing;
  }

 private:
  struct Wait {
    Bytes delivered;
    std::uint64_t order;
    std::uint32_t call;
    friend bool operator>(const Wait& a, const Wait& b) {
      return std::pair(a.delivered, a.order) > std::pair(b.delivered, b.order);
    }
  };
  using Waits = std::priority_queue<Wait, std::vector<Wait>, std::greater<>>;

  static constexpr Bytes kNothing{std::numeric_limits<std::int64_t>::max()};

  std::unordered_map<std::uint32_t, Waits> waiting_;
  std::vector<Bytes> least_;  // by queue pair, of its waits
  std::uint64_t next_ = 0;
};

}  // namespace simulator
