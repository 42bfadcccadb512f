// Pending calls to host software. Engines put them here; the binding hands it over between two instants, so that
// host software is never called while an engine is in the middle of something, and sees all completions of an
// instant at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace simulator {

struct Completion {
  std::uint64_t wr_id;
  std::int64_t nic_ns;
  std::int64_t byte_len;
  int status;
  std::optional<std::uint32_t> immediate{};
  Picoseconds left_nic{};
};

struct ReceivedDatagram {
  std::uint32_t source_qp_num;
  std::int64_t nic_ns;
  std::string payload;
};

enum class HostCallKind : std::uint8_t {
  kCompletions,
  kReceives,
  kQueuePairEvent,
  kDatagrams,
  kTimer,
  kOnce
};

struct HostCall {
  HostCallKind kind;
  std::uint32_t subject;  // queue pair, datagram queue pair or timer
  int state = 0;          // new state of the queue pair
};

class Mailbox {
 public:
  void add_queue_pair() {
    completions_.emplace_back();
    receives_.emplace_back();
  }
  void attach(std::uint32_t qp, bool takes_receives) {
    completions_[qp].is_attached = true;
    receives_[qp].is_attached = takes_receives;
  }
  void add_datagram_queue_pair() { datagrams_.emplace_back(); }
  void attach_datagrams(std::uint32_t qp) { datagrams_[qp].is_attached = true; }

  bool has_calls() const { return next_ < calls_.size(); }

  void complete(std::uint32_t qp, const Completion& completion) {
    put(completions_[qp], {HostCallKind::kCompletions, qp}, completion);
  }
  void receive(std::uint32_t qp, const Completion& completion) {
    put(receives_[qp], {HostCallKind::kReceives, qp}, completion);
  }
  void receive_datagram(std::uint32_t qp, ReceivedDatagram datagram) {
    put(datagrams_[qp], {HostCallKind::kDatagrams, qp}, std::move(datagram));
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

  // Nothing that this queue pair has done so far reaches host software any more.
  void forget(std::uint32_t qp) {
    completions_[qp].items.clear();
    receives_[qp].items.clear();
    const auto is_of_queue_pair = [&](const HostCall& call) {
      return call.subject == qp && call.kind <= HostCallKind::kQueuePairEvent;
    };
    calls_.erase(
        std::remove_if(calls_.begin() + static_cast<std::ptrdiff_t>(next_), calls_.end(), is_of_queue_pair),
        calls_.end());
  }

  // Takes everything of a queue, into a vector whose memory is then used for what comes next.
  void swap_completions(std::uint32_t qp, std::vector<Completion>& into) { swap(completions_[qp], into); }
  void swap_receives(std::uint32_t qp, std::vector<Completion>& into) { swap(receives_[qp], into); }
  void swap_datagrams(std::uint32_t qp, std::vector<ReceivedDatagram>& into) { swap(datagrams_[qp], into); }

 private:
  template <class Item>
  struct Queue {
    std::vector<Item> items;
    bool is_attached = false;
  };

  template <class Item>
  void put(Queue<Item>& queue, const HostCall& call, Item item) {
    if (!queue.is_attached) return;
    if (queue.items.empty()) calls_.push_back(call);
    queue.items.push_back(std::move(item));
  }

  template <class Item>
  static void swap(Queue<Item>& queue, std::vector<Item>& into) {
    into.clear();
    queue.items.swap(into);
  }

  std::vector<Queue<Completion>> completions_;
  std::vector<Queue<Completion>> receives_;
  std::vector<Queue<ReceivedDatagram>> datagrams_;
  std::vector<HostCall> calls_;
  std::size_t next_ = 0;
};

}  // namespace simulator
