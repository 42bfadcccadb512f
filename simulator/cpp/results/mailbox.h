// What waits for host software. Engines put it here; the binding hands it over between two instants, so that
// host software is never called while an engine is in the middle of something, and sees all completions of an
// instant at once.
#pragma once

#include <cstdint>
#include <vector>

namespace simulator {

struct Completion {
  std::uint64_t wr_id;
  std::int64_t nic_ns;
  std::int64_t byte_len;
  int status;
};

enum class HostCallKind : std::uint8_t { kCompletions, kQueuePairEvent, kTimer, kOnce };

struct HostCall {
  HostCallKind kind;
  std::uint32_t subject;  // queue pair or timer
  int state = 0;          // new state of the queue pair
};

class Mailbox {
 public:
  void add_queue_pair() { queues_.emplace_back(); }
  void attach(std::uint32_t qp) { queues_[qp].is_attached = true; }

  bool has_calls() const { return next_ < calls_.size(); }

  void complete(std::uint32_t qp, const Completion& completion) {
    Queue& queue = queues_[qp];
    if (!queue.is_attached) return;
    if (queue.completions.empty()) calls_.push_back({HostCallKind::kCompletions, qp});
    queue.completions.push_back(completion);
  }

  void call(const HostCall& call) { calls_.push_back(call); }

  HostCall take_call() {
    const HostCall call = calls_[next_++];
    if (next_ == calls_.size()) {
      calls_.clear();
      next_ = 0;
    }
    return call;
  }

  // Takes all completions of a queue pair, into a vector whose memory is then used for the next ones.
  void swap_completions(std::uint32_t qp, std::vector<Completion>& into) {
    into.clear();
    queues_[qp].completions.swap(into);
  }

 private:
  struct Queue {
    std::vector<Completion> completions;
    bool is_attached = false;
  };

  std::vector<Queue> queues_;
  std::vector<HostCall> calls_;
  std::size_t next_ = 0;
};

}  // namespace simulator
