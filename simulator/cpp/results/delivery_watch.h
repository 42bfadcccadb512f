// Deliveries and completions that a run waits for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units.h"
#include "results/mailbox.h"

namespace simulator {

// Callbacks that wait for bytes of a queue pair to arrive at the other end. A receiver's software sees them in its
// memory; the sender's NIC reports nothing before their acknowledgement arrives.
class DeliveryWatch {
 public:
  bool is_empty() const { return waiting_.empty(); }

  void add(std::uint32_t qp, Bytes delivered, std::uint32_t call) {
    waiting_[qp].push({delivered, next_++, call});
    if (least_.size() <= qp) least_.resize(qp + 1, kNothing);
    least_[qp] = std::min(least_[qp], delivered);
  }

  // True if a watch waits for no more than `delivered`. Checked for every packet.
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

  // Posted bytes will no longer arrive.
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

// Completions that are on their way over PCI, from the NIC to host software. What completes sends and what
// completes receives wait in two lines, and within a line nothing overtakes.
enum class CompletionLine : std::uint8_t { kSends, kReceives };

class LateCompletions {
 public:
  void add_queue_pair() { queue_pairs_.emplace_back(); }

  // Time at which the host sees a completion that would arrive `at` without earlier ones.
  Picoseconds arrival(std::uint32_t qp, CompletionLine line, Picoseconds at) const {
    const std::vector<Late>& waiting = line_of(qp, line);
    return waiting.empty() ? at : std::max(at, waiting.back().at);
  }

  void hold(std::uint32_t qp, CompletionLine line, Picoseconds at, const Completion& completion) {
    line_of(qp, line).push_back({at, completion});
  }

  // Hands over what is there by now.
  void deliver(std::uint32_t qp, Picoseconds now, Mailbox& mailbox) {
    deliver(qp, CompletionLine::kSends, now, mailbox);
    deliver(qp, CompletionLine::kReceives, now, mailbox);
  }

  void forget(std::uint32_t qp) { queue_pairs_[qp] = {}; }

 private:
  struct Late {
    Picoseconds at;
    Completion completion;
  };
  using Lines = std::array<std::vector<Late>, 2>;

  std::vector<Late>& line_of(std::uint32_t qp, CompletionLine line) {
    return queue_pairs_[qp][static_cast<std::size_t>(line)];
  }
  const std::vector<Late>& line_of(std::uint32_t qp, CompletionLine line) const {
    return queue_pairs_[qp][static_cast<std::size_t>(line)];
  }

  void deliver(std::uint32_t qp, CompletionLine line, Picoseconds now, Mailbox& mailbox) {
    std::vector<Late>& waiting = line_of(qp, line);
    auto first = waiting.begin();
    for (; first != waiting.end() && first->at <= now; ++first) {
      if (line == CompletionLine::kSends) {
        mailbox.complete(qp, first->completion);
      } else {
        mailbox.receive(qp, first->completion);
      }
    }
    waiting.erase(waiting.begin(), first);
  }

  std::vector<Lines> queue_pairs_;
};

}  // namespace simulator
