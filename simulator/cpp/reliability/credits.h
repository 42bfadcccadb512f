// Credits of Ultra Ethernet's receivers: an account per sender, grants, and the pacer of a host.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/units.h"
#include "reliability/acknowledgement.h"

namespace simulator {

// Receiver-credit congestion control of Ultra Ethernet (RCCC), the sender's side: its credit, and how much more it
// requests. A connection begins with credit without a grant, so that it need not wait for a round trip; the rest of it
// is void at the receiver's first reply, unless it is kept. Credit may be overdrawn by one
// packet. Source: Ultra Ethernet specification 1.0, congestion management (RCCC); where it leaves a choice, and for all
// numbers, uet-htsim's uec.cpp (commit 40ccb05: startConnection, spendCredit, stopSpeculating, handlePull,
// computePullTarget).
inline constexpr int kCreditShift = 8;
inline constexpr std::int64_t kCreditQuantum = 1 << kCreditShift;  // bytes; UEC_PULL_QUANTUM

class CreditAccount {
 public:
  // `most`: what it begins with, and ever has.
  CreditAccount(Bytes most, bool keeps_first)
      : credit_max_(most.value), credit_(most.value), keeps_first_(keeps_first) {}

  bool may_send() const { return credit_ > 0; }
  bool is_last(Bytes frame) const { return credit_ <= frame.value; }  // no packet may follow this one

  void spend(Bytes frame) {
    credit_ -= frame.value;
    spent_ += frame.value;
  }

  // The receiver has replied.
  void end_speculation() {
    if (is_speculating_ && !keeps_first_ && credit_ > 0) {
      forgone_ += credit_;
      credit_ = 0;
    }
    is_speculating_ = false;
  }

  // The receiver has granted `quanta` in total. A smaller total is old news, for example from a late packet.
  void on_granted(std::int64_t quanta) {
    if (quanta <= granted_) return;
    credit_ += (quanta - granted_) * kCreditQuantum;
    granted_ = quanta;
    if (credit_ <= credit_max_) return;
    forgone_ += credit_ - credit_max_;
    credit_ = credit_max_;
  }

  // The target is a running number: all quanta that were ever granted, and those that are still wanted. A sender
  // wants what it must send and has no credit for, at most `most`, or a window and a packet. A sender with more
  // credit than that requests less than was granted. Queue pairs with packets in the same NIC, `rivals`, divide it.
  std::int64_t target(Bytes backlog, Bytes frame, std::optional<Bytes> window, std::int64_t rivals) const {
    std::int64_t wanted = std::min(backlog.value, credit_max_);
    if (window) wanted = std::min(wanted, (*window + frame).value);
    wanted -= credit_;
    if (is_speculating_ && backlog.value > 0) wanted = std::max(wanted, frame.value);
    wanted = wanted / std::max<std::int64_t>(1, rivals) + granted_ * kCreditQuantum;
    return (wanted + kCreditQuantum - 1) >> kCreditShift;  // rounded up, also below 0
  }

  std::int64_t granted() const { return granted_; }  // quanta, as last reported

  // Nothing comes from nowhere, and nothing is lost.
  bool is_balanced() const {
    return credit_max_ + granted_ * kCreditQuantum == spent_ + credit_ + forgone_ && credit_ <= credit_max_;
  }

  void add_to(std::map<std::string, double>& metrics) const {
    metrics["credit_bytes"] = static_cast<double>(credit_);
    metrics["credit_granted_bytes"] = static_cast<double>(granted_ * kCreditQuantum);
    metrics["credit_spent_bytes"] = static_cast<double>(spent_);
    metrics["credit_forgone_bytes"] = static_cast<double>(forgone_);
  }

 private:
  std::int64_t credit_max_;
  std::int64_t credit_;
  std::int64_t granted_ = 0;  // quanta
  std::int64_t spent_ = 0;
  std::int64_t forgone_ = 0;  // void, or above what it ever has
  bool is_speculating_ = true;
  bool keeps_first_;
};

// Receiver-credit congestion control of Ultra Ethernet (RCCC), the receiver's side of one connection: what its sender
// asks for, and what it was granted. A host takes turns between all that it has (reliability/credits.h). Source:
// Ultra Ethernet specification 1.0, congestion management (RCCC); uet-htsim's uec.cpp (commit 40ccb05:
// UecSink::handlePullTarget, pull, backlog, slowCredit).
class CreditGrants {
 public:
  // `each`: quanta of one grant. `ahead`: quanta that a sender may have beyond its request. `share` of the
  // line's rate is granted.
  CreditGrants(std::int64_t each, std::int64_t ahead, double share)
      : each_(each), ahead_max_(ahead), share_(share) {}

  // A packet arrived with its sender's request: the low bits of the total credit that it needs.
  void on_target(std::uint32_t target) {
    const std::uint32_t above =
        (target - static_cast<std::uint32_t>(requested_)) & DataPacket::kCreditTargetMask;
    if (above == 0 || above > DataPacket::kCreditTargetMask / 2) return;
    requested_ += above;
    wants_turn_ = true;
  }

  // Report the granted credit again, and grant more if it is requested.
  void request_turn() { wants_turn_ = true; }

  // True once when it must have a turn soon.
  bool take_turn_request() {
    const bool wished = wants_turn_;
    wants_turn_ = false;
    return wished;
  }

  bool is_owed() const { return requested_ > granted_; }
  bool may_be_ahead() const { return granted_ - requested_ < ahead_max_; }

  // Its turn: grants the requested credit, or when idle a whole grant ahead. Returns the quanta.
  std::int64_t grant(bool is_idle) {
    const std::int64_t owed = std::max<std::int64_t>(0, requested_ - granted_);
    const std::int64_t quanta = is_idle ? each_ : std::min(each_, owed);
    granted_ += quanta;
    return quanta;
  }

  // Grants the bytes of a plug-in. A partial quantum waits for the next grant.
  void grant_bytes(Bytes bytes) {
    rest_bytes_ += bytes.value;
    granted_ += rest_bytes_ / kCreditQuantum;
    rest_bytes_ %= kCreditQuantum;
  }

  std::int64_t granted() const { return granted_; }  // quanta
  Bytes granted_bytes() const { return {granted_ * kCreditQuantum + rest_bytes_}; }
  Bytes requested_bytes() const { return {requested_ * kCreditQuantum}; }

  // Time until the host's next grant. A turn without a grant also takes time (that of 1024 bytes).
  Picoseconds pause_after(std::int64_t quanta, double ps_per_byte) const {
    const std::int64_t counted = quanta == 0 ? kQuantaOfNothing : quanta;
    return duration_of(Bytes{counted * kCreditQuantum}, ps_per_byte / share_);
  }

 private:
  static constexpr std::int64_t kQuantaOfNothing = 4;

  std::int64_t each_;
  std::int64_t ahead_max_;
  double share_;
  std::int64_t requested_ = 0;  // quanta, as all below
  std::int64_t granted_ = 0;
  std::int64_t rest_bytes_ = 0;
  bool wants_turn_ = false;
};

// The receivers of a host grant credit one after the other, at slightly less than the rate of its link, so that their
// sum never fills the queue in front of it. Receivers with requests take turns; without requests, satisfied receivers
// grant some credit ahead for what their senders begin next. It keeps no clock. Source:
// Ultra Ethernet specification 1.0, congestion management (RCCC); uet-htsim's uec.cpp (commit 40ccb05: UecPullPacer).
class CreditPacer {
 public:
  struct Turn {
    std::uint32_t qp;
    bool is_idle;  // no receiver has a request
  };

  CreditPacer() = default;
  CreditPacer(CreditPacer&&) = default;
  CreditPacer& operator=(CreditPacer&&) = default;

  // This receiver's sender requests credit.
  void on_request(std::uint32_t qp) { shift(entry_of(qp), kRequesting); }

  // Time of the next turn; kNever without one.
  Picoseconds deadline() const {
    return queues_[kRequesting].empty() && queues_[kIdle].empty() ? kNever : free_;
  }

  // The receiver whose turn it is. The caller then reports its next queue and the time of the turn.
  Turn take() {
    const bool is_idle = queues_[kRequesting].empty();
    const Queue::iterator first = queues_[is_idle ? kIdle : kRequesting].begin();
    shift(first, kUnqueued);
    return {first->qp, is_idle};
  }

  void queue_for_idle_turn(std::uint32_t qp) { shift(entry_of(qp), kIdle); }
  void wait_until(Picoseconds free) { free_ = free; }

 private:
  enum QueueName : std::uint8_t { kUnqueued, kRequesting, kIdle };
  struct Entry {
    std::uint32_t qp;
    QueueName queue;
  };
  using Queue = std::list<Entry>;

  Queue::iterator entry_of(std::uint32_t qp) {
    const auto [found, is_new] = entries_.try_emplace(qp);
    if (is_new) found->second = queues_[kUnqueued].insert(queues_[kUnqueued].end(), {qp, kUnqueued});
    return found->second;
  }

  // Move it to the end of that queue, unless it is there.
  void shift(Queue::iterator entry, QueueName to) {
    if (entry->queue == to) return;
    queues_[to].splice(queues_[to].end(), queues_[entry->queue], entry);
    entry->queue = to;
  }

  std::array<Queue, 3> queues_;  // splicing costs the same at any position
  std::unordered_map<std::uint32_t, Queue::iterator> entries_;
  Picoseconds free_;
};

}  // namespace simulator
