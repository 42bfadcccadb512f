// Completions that are on their way over PCI, from the NIC to host software. What completes sends and what
// completes receives wait in two lines, and within a line nothing overtakes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "results/mailbox.h"

namespace simulator {

enum class CompletionLine : std::uint8_t { kSends, kReceives };

class LateCompletions {
 public:
  void add_queue_pair() { queue_pairs_.emplace_back(); }

  // When a completion is with its host that would be there `at` if nothing else were on its way.
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
