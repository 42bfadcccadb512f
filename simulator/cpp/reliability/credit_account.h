// Receiver-credit congestion control of Ultra Ethernet (RCCC), the sender's side: what credit it has, and how much
// more it asks for. A connection begins with credit that nobody granted, so that it need not wait for a round trip;
// what is left of that is void as soon as its receiver is heard of, unless it is kept. Credit may be overdrawn by one
// packet. Source: Ultra Ethernet specification 1.0, congestion management (RCCC); where it leaves a choice, and for all
// numbers, uet-htsim's uec.cpp (commit 40ccb05: startConnection, spendCredit, stopSpeculating, handlePull,
// computePullTarget).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"

namespace simulator {

inline constexpr int kCreditShift = 8;
inline constexpr std::int64_t kCreditQuantum = 1 << kCreditShift;  // bytes; UEC_PULL_QUANTUM

class CreditAccount {
 public:
  // `most`: what it begins with, and ever has.
  CreditAccount(Bytes most, bool keeps_first)
      : most_(most.value), credit_(most.value), keeps_first_(keeps_first) {}

  bool may_send() const { return credit_ > 0; }
  bool is_last(Bytes frame) const { return credit_ <= frame.value; }  // no packet may follow this one

  void spend(Bytes frame) {
    credit_ -= frame.value;
    spent_ += frame.value;
  }

  // The receiver was heard of.
  void end_speculation() {
    if (is_speculating_ && !keeps_first_ && credit_ > 0) {
      forgone_ += credit_;
      credit_ = 0;
    }
    is_speculating_ = false;
  }

  // It has granted so many quanta since the beginning. Those that were told before, or by one that was late, are
  // no news.
  void on_granted(std::int64_t quanta) {
    if (quanta <= granted_) return;
    credit_ += (quanta - granted_) * kCreditQuantum;
    granted_ = quanta;
    if (credit_ <= most_) return;
    forgone_ += credit_ - most_;
    credit_ = most_;
  }

  // The target is a running number: all quanta that were ever granted, and those that are still wanted. A sender
  // wants what it must send and has no credit for, at most `most`, or a window and a packet. A sender with more
  // credit than that asks for less than was granted. Queue pairs with packets in the same NIC, `rivals`, divide it.
  std::int64_t target(Bytes backlog, Bytes frame, std::optional<Bytes> window, std::int64_t rivals) const {
    std::int64_t wanted = std::min(backlog.value, most_);
    if (window) wanted = std::min(wanted, (*window + frame).value);
    wanted -= credit_;
    if (is_speculating_ && backlog.value > 0) wanted = std::max(wanted, frame.value);
    wanted = wanted / std::max<std::int64_t>(1, rivals) + granted_ * kCreditQuantum;
    return (wanted + kCreditQuantum - 1) >> kCreditShift;  // rounded up, also below 0
  }

  std::int64_t granted() const { return granted_; }  // quanta, as far as it was told

  // Nothing comes from nowhere, and nothing is lost.
  bool is_balanced() const {
    return most_ + granted_ * kCreditQuantum == spent_ + credit_ + forgone_ && credit_ <= most_;
  }

  void add_to(std::map<std::string, double>& metrics) const {
    metrics["credit_bytes"] = static_cast<double>(credit_);
    metrics["credit_granted_bytes"] = static_cast<double>(granted_ * kCreditQuantum);
    metrics["credit_spent_bytes"] = static_cast<double>(spent_);
    metrics["credit_forgone_bytes"] = static_cast<double>(forgone_);
  }

 private:
  std::int64_t most_;
  std::int64_t credit_;
  std::int64_t granted_ = 0;  // quanta
  std::int64_t spent_ = 0;
  std::int64_t forgone_ = 0;  // void, or above what it ever has
  bool is_speculating_ = true;
  bool keeps_first_;
};

}  // namespace simulator
