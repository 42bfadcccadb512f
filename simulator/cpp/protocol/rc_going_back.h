// How a requester goes back after a loss, and takes up the verb that its next packet belongs to.
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/rc_requester.h"

namespace simulator {

inline bool RcRequester::take_retry() {
  if (retries_left_ == 0) return false;
  if (!retrying_.is_endless_at_seven || retry_count_ != 7) --retries_left_;
  return is_gap_known_ = is_retrying_ = true;
}

inline bool RcRequester::retry() {
  if (!take_retry()) return false;
  go_back();
  return true;
}

inline void RcRequester::go_back() {
  if (withholds_next_verb_) recovery_end_psn_ = std::max(recovery_end_psn_, sent_psn_);
  go_back_psn_ = kNone;
  rewind_to(unacknowledged_psn_);
}

// After a NAK packets leave that the card has already taken up: those that the window allows, or if it had
// closed, those that the NAK allows. Source: Linux rxe (rxe_comp.c, check_ack() wakes the requester before
// COMPST_ERROR_RETRY; rxe_req.c, RXE_INFLIGHT_SKBS_PER_QP_HIGH).
inline void RcRequester::go_back_if_due() {
  if (go_back_psn_ != kNone) go_back();
}

inline void RcRequester::rewind_to(std::uint64_t psn) {
  const std::uint64_t since = place_in_verb() + ack_shift_;
  next_psn_ = psn;
  skip_to_verb_of(psn);
  if (retrying_.keeps_ack_count) keep_ack_count(since);
}

inline std::uint64_t RcRequester::place_in_verb() const {
  return next_psn_ > verb_last_psn_ ? 0 : next_psn_ - verb_first_psn_;
}

// `since` packets have left after the last one that asked for an ACK, or a multiple of its period more.
inline void RcRequester::keep_ack_count(std::uint64_t since) {
  const std::uint64_t place = place_in_verb() % ack_every_packets_;
  ack_shift_ = static_cast<std::uint32_t>((since + ack_every_packets_ - place) % ack_every_packets_);
}

inline void RcRequester::skip_to_verb_of(std::uint64_t psn) {
  reads_under_way_ = 0;
  for (next_verb_ = verbs_.head(); next_verb_ != verbs_.tail(); ++next_verb_) {
    const Verb& verb = verbs_[next_verb_];
    if (verb.last_psn >= psn) return load_verb();
    reads_under_way_ += verb.kind == VerbKind::kRead;
  }
  sendable_psn_ = posted_psn_;
}

inline void RcRequester::start_at(std::uint64_t psn) {
  unacknowledged_psn_ = next_psn_ = sent_psn_ = posted_psn_ = sendable_psn_ = psn;
  next_verb_ = verbs_.tail();
  recovery_end_psn_ = reads_posted_ = reads_under_way_ = ack_shift_ = 0;
  go_back_psn_ = kNone;
  is_gap_known_ = is_retrying_ = false;
  deadline_ = kNever;
}

// Takes up the verb that the next packet belongs to, unless it has to wait.
inline void RcRequester::load_verb() {
  const Verb& verb = verbs_[next_verb_];
  verb_first_psn_ = verb.first_psn;
  verb_last_psn_ = verb.last_psn;
  verb_last_payload_bytes_ = static_cast<std::uint16_t>(verb.last_payload_bytes);
  is_plain_ = verb.kind == VerbKind::kWrite && !verb.immediate && !verb.moves_bytes && !is_described_;
  const bool is_withheld = verb.first_psn < recovery_end_psn_ && unacknowledged_psn_ < verb.first_psn;
  const bool has_to_wait = is_withheld || (verb.kind == VerbKind::kRead && reads_under_way_ == kReadsMax);
  sendable_psn_ = has_to_wait ? next_psn_ : allowed_psn();
}

}  // namespace simulator
