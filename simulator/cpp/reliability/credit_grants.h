// Receiver-credit congestion control of Ultra Ethernet (RCCC), the receiver's side of one connection: what its sender
// asks for, and what it was granted. A host takes turns between all that it has (reliability/credit_pacer.h). Source:
// Ultra Ethernet specification 1.0, congestion management (RCCC); uet-htsim's uec.cpp (commit 40ccb05:
// UecSink::handlePullTarget, pull, backlog, slowCredit).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "reliability/acknowledgement.h"
#include "reliability/credit_account.h"

namespace simulator {

class CreditGrants {
 public:
  // `each`: quanta of one grant. `ahead`: quanta that a sender may have beyond what it asked for. `share` of the
  // line's rate is granted.
  CreditGrants(std::int64_t each, std::int64_t ahead, double share)
      : each_(each), ahead_max_(ahead), share_(share) {}

  // A packet came that says up to where its sender wants credit: the low bits of a running number.
  void on_target(std::uint32_t target) {
    const std::uint32_t above = (target - static_cast<std::uint32_t>(asked_)) & DataPacket::kCreditTargetMask;
    if (above == 0 || above > DataPacket::kCreditTargetMask / 2) return;
    asked_ += above;
    wants_turn_ = true;
  }

  // What was granted must be told again, and more if it is wanted.
  void ask_again() { wants_turn_ = true; }

  // Whether it must have a turn soon, said once.
  bool take_wish() {
    const bool wished = wants_turn_;
    wants_turn_ = false;
    return wished;
  }

  bool is_owed() const { return asked_ > granted_; }
  bool may_be_ahead() const { return granted_ - asked_ < ahead_max_; }

  // Its turn: grants what is asked for, or in an idle moment a whole grant ahead of that. Returns the quanta.
  std::int64_t grant(bool is_idle) {
    const std::int64_t owed = std::max<std::int64_t>(0, asked_ - granted_);
    const std::int64_t quanta = is_idle ? each_ : std::min(each_, owed);
    granted_ += quanta;
    return quanta;
  }

  // Grants what a control from outside says. What fills no quantum waits for the next grant.
  void give(Bytes bytes) {
    rest_bytes_ += bytes.value;
    granted_ += rest_bytes_ / kCreditQuantum;
    rest_bytes_ %= kCreditQuantum;
  }

  std::int64_t granted() const { return granted_; }  // quanta
  Bytes granted_bytes() const { return {granted_ * kCreditQuantum + rest_bytes_}; }
  Bytes asked_bytes() const { return {asked_ * kCreditQuantum}; }

  // How long the host grants nothing then. A turn that grants nothing takes time, too (1024 bytes of it).
  Picoseconds pause_after(std::int64_t quanta, double ps_per_byte) const {
    const std::int64_t counted = quanta == 0 ? kQuantaOfNothing : quanta;
    return duration_of(Bytes{counted * kCreditQuantum}, ps_per_byte / share_);
  }

 private:
  static constexpr std::int64_t kQuantaOfNothing = 4;

  std::int64_t each_;
  std::int64_t ahead_max_;
  double share_;
  std::int64_t asked_ = 0;  // quanta, as all below
  std::int64_t granted_ = 0;
  std::int64_t rest_bytes_ = 0;
  bool wants_turn_ = false;
};

}  // namespace simulator
