// Python's host software in a run, and its clock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "results/mailbox.h"

namespace simulator {

// The Python callables that stand for host software, and how they are called: between two instants, never
// re-entrantly.

namespace nb = nanobind;

class HostSoftware {
 public:
  struct QueuePairCallbacks {
    nb::object on_completions;
    nb::object on_qp_event;
    nb::object on_receives;  // or None
  };

  bool empty() const {
    return queue_pairs_.empty() && datagrams_.empty() && timers_.empty() && once_.empty();
  }

  void attach(std::uint32_t qp, QueuePairCallbacks callbacks) { queue_pairs_[qp] = std::move(callbacks); }
  void attach_datagrams(std::uint32_t qp, nb::object on_receives) { datagrams_[qp] = std::move(on_receives); }
  // Among the completions that are being delivered, or were last.
  std::optional<Picoseconds> left_nic(std::uint32_t qp, std::uint64_t wr_id) const {
    for (const Completion& completion : completions_) {
      if (qp == delivered_qp_ && completion.wr_id == wr_id) return completion.left_nic;
    }
    return {};
  }
  void add_timer(std::uint32_t timer, nb::object callback) { timers_[timer] = std::move(callback); }
  std::uint32_t add_once(nb::object callback) {
    once_[next_once_] = std::move(callback);
    return next_once_++;
  }

  // Calls the host software that `call` is for. Python exceptions pass through.
  void deliver(const HostCall& call, std::int64_t host_ns, Mailbox& mailbox) {
    switch (call.kind) {
      case HostCallKind::kCompletions:
        mailbox.swap_completions(call.subject, completions_);
        delivered_qp_ = call.subject;
        nb::object(queue_pairs_.at(call.subject).on_completions)(host_ns, to_list(completions_));
        break;
      case HostCallKind::kReceives:
        mailbox.swap_receives(call.subject, receives_);
        nb::object(queue_pairs_.at(call.subject).on_receives)(host_ns, to_list(receives_));
        break;
      case HostCallKind::kQueuePairEvent:
        if (const auto found = queue_pairs_.find(call.subject); found != queue_pairs_.end()) {
          nb::object(found->second.on_qp_event)(host_ns, call.state);
        }
        break;
      case HostCallKind::kDatagrams:
        mailbox.swap_datagrams(call.subject, received_);
        nb::object(datagrams_.at(call.subject))(host_ns, to_list(received_));
        break;
      case HostCallKind::kTimer:
        nb::object(timers_.at(call.subject))(host_ns);
        break;
      case HostCallKind::kOnce:
        once_.extract(call.subject).mapped()(host_ns);
        break;
    }
  }

  // For Python's garbage collector: host software usually refers back to the simulation.
  int traverse(visitproc visit, void* arg) const {
    for (const auto& [qp, callbacks] : queue_pairs_) {
      Py_VISIT(callbacks.on_completions.ptr());
      Py_VISIT(callbacks.on_qp_event.ptr());
      Py_VISIT(callbacks.on_receives.ptr());
    }
    for (const auto* table : {&datagrams_, &timers_, &once_}) {
      for (const auto& [id, callback] : *table) Py_VISIT(callback.ptr());
    }
    return 0;
  }

  void clear() {
    const auto queue_pairs = std::exchange(queue_pairs_, {});
    const auto datagrams = std::exchange(datagrams_, {});
    const auto timers = std::exchange(timers_, {});
    const auto once = std::exchange(once_, {});
  }

 private:
  // [(wr_id, status, nic_ns, byte_len, imm), ...]
  static nb::list to_list(const std::vector<Completion>& completions) {
    nb::list result;
    for (const Completion& completion : completions) {
      result.append(nb::make_tuple(completion.wr_id, completion.status, completion.nic_ns,
                                   completion.byte_len, completion.immediate));
    }
    return result;
  }

  // [(source_qp_num, nic_ns, payload), ...]
  static nb::list to_list(const std::vector<ReceivedDatagram>& datagrams) {
    nb::list result;
    for (const ReceivedDatagram& datagram : datagrams) {
      const nb::bytes payload(datagram.payload.data(), datagram.payload.size());
      result.append(nb::make_tuple(datagram.source_qp_num, datagram.nic_ns, payload));
    }
    return result;
  }

  std::unordered_map<std::uint32_t, QueuePairCallbacks> queue_pairs_;
  std::unordered_map<std::uint32_t, nb::object> datagrams_;
  std::unordered_map<std::uint32_t, nb::object> timers_;
  std::unordered_map<std::uint32_t, nb::object> once_;
  std::vector<Completion> completions_;
  std::uint32_t delivered_qp_ = 0;  // whose they are
  std::vector<Completion> receives_;
  std::vector<ReceivedDatagram> received_;
  std::uint32_t next_once_ = 0;
};

inline Picoseconds to_picoseconds(std::int64_t host_ns) {
  constexpr std::int64_t kMaxNs = std::numeric_limits<std::int64_t>::max() / kPicosecondsPerNanosecond / 2;
  if (host_ns < 0 || host_ns > kMaxNs) {
    throw SimulationError("expected a time from 0 to " + std::to_string(kMaxNs) + " ns (53 days), got " +
                          std::to_string(host_ns) + " ns");
  }
  return {host_ns * kPicosecondsPerNanosecond};
}

}  // namespace simulator
