// The sending half of a reliable connection: go-back-N with retry counter and timeout. It does no I/O and
// keeps no clock: an engine asks for the next packet, reports what left and what came back, and wakes it at
// `deadline()`. Source: InfiniBand architecture, volume 1, 9.7 (reliable service); Linux rxe (rxe_req.c,
// rxe_comp.c).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "protocol/psn.h"
#include "protocol/verb_ring.h"

namespace simulator {

// Numbers of enum ibv_wc_status.
enum class VerbStatus : int { kSuccess = 0, kFlushed = 5, kRetryExceeded = 12 };

struct PacketPlan {
  std::uint32_t payload_bytes;
  bool is_first;
  bool is_last;
  bool wants_ack;
};

// 4.096 us * 2^exponent; exponent 0 means never. Source: InfiniBand architecture, volume 1, 9.7.6.1.3
// (transport timer).
constexpr Picoseconds retransmit_timeout(std::uint32_t exponent) {
  return exponent == 0 ? kNever : Picoseconds{std::int64_t{4'096'000} << exponent};
}

struct RequesterSettings {
  std::uint32_t mtu_bytes = 0;
  std::uint32_t ack_every_packets = 0;
  std::uint32_t retry_count = 0;
  Picoseconds retransmit_timeout = kNever;
};

struct RequesterCounters {
  Bytes retransmitted_bytes;
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t naks = 0;
  std::uint64_t timeouts = 0;
};

class alignas(64) RcRequester {
 public:
  explicit RcRequester(const RequesterSettings& settings)
      : mtu_bytes_(settings.mtu_bytes),
        ack_every_packets_(settings.ack_every_packets),
        retry_count_(settings.retry_count),
        retries_left_(settings.retry_count),
        retransmit_timeout_(settings.retransmit_timeout) {}

  void post(std::uint64_t wr_id, Bytes length, bool is_signaled) {
    const auto mtu = std::int64_t{mtu_bytes_};
    const std::int64_t packets = length.value == 0 ? 1 : (length.value + mtu - 1) / mtu;
    Verb verb{.wr_id = wr_id, .first_psn = posted_psn_, .length = length, .is_signaled = is_signaled};
    verb.last_psn = posted_psn_ + static_cast<std::uint64_t>(packets) - 1;
    verb.last_payload_bytes = static_cast<std::uint32_t>(length.value - (packets - 1) * mtu);
    const bool was_idle = !has_packet();
    verbs_.push(verb);
    posted_psn_ = verb.last_psn + 1;
    posted_bytes_ += length;
    if (was_idle) load_verb(verbs_.tail() - 1);
  }

  bool has_packet() const { return next_psn_ < posted_psn_; }
  bool has_outstanding() const { return unacknowledged_psn_ < sent_psn_; }
  std::uint64_t next_psn() const { return next_psn_; }
  std::uint64_t sent_psn() const { return sent_psn_; }
  std::uint64_t unacknowledged_psn() const { return unacknowledged_psn_; }
  bool is_idle() const { return verbs_.empty(); }
  bool has_ever_posted() const { return verbs_.tail() != 0; }
  std::uint64_t sent_packets() const { return sent_psn_ - skipped_psns_ + counters_.retransmitted_packets; }
  Bytes posted_bytes() const { return posted_bytes_; }
  Picoseconds deadline() const { return deadline_; }
  const RequesterCounters& counters() const { return counters_; }

  PacketPlan plan() const {
    const bool is_first = next_psn_ == verb_first_psn_;
    const bool is_last = next_psn_ == verb_last_psn_;
    const auto nth = static_cast<std::uint32_t>(next_psn_ - verb_first_psn_) + 1;
    const bool wants_ack = is_last || ack_every_packets_ == 1 || nth % ack_every_packets_ == 0;
    return {is_last ? verb_last_payload_bytes_ : mtu_bytes_, is_first, is_last, wants_ack};
  }

  // The planned packet's last byte left the NIC at `end`.
  void on_sent(const PacketPlan& plan, Picoseconds end) {
    if (!has_outstanding()) deadline_ = after_timeout(end);
    if (next_psn_ == sent_psn_) {
      ++sent_psn_;
      if (plan.is_last) verbs_[verb_].left_nic = end;
    } else {
      counters_.retransmitted_bytes.value += plan.payload_bytes;
      ++counters_.retransmitted_packets;
    }
    ++next_psn_;
    if (plan.is_last && has_packet()) load_verb(verb_ + 1);
  }

  // ACK of `psn` and everything before it. `on_done(verb)` is called for each verb it completes.
  template <class OnDone>
  void on_ack(std::uint32_t psn, Picoseconds now, OnDone&& on_done) {
    acknowledge_below(widen(psn) + 1, now, on_done);
  }

  // NAK: the responder expects `psn`. Returns false when the retries are exhausted: call fail() then.
  template <class OnDone>
  [[nodiscard]] bool on_nak(std::uint32_t psn, Picoseconds now, OnDone&& on_done) {
    const std::uint64_t expected = widen(psn);
    if (expected < unacknowledged_psn_ || expected >= sent_psn_) return true;  // stale
    ++counters_.naks;
    acknowledge_below(expected, now, on_done);
    return retry();
  }

  // Call when `deadline()` has come. Returns false when the retries are exhausted: call fail() then.
  [[nodiscard]] bool on_timeout(Picoseconds now) {
    ++counters_.timeouts;
    deadline_ = after_timeout(now);
    return retry();
  }

  // The queue pair goes to its error state: the oldest verb gets the reason, the others are flushed.
  template <class OnFailed>
  void fail(OnFailed&& on_failed) {
    VerbStatus status = VerbStatus::kRetryExceeded;
    for (; !verbs_.empty(); verbs_.pop()) {
      on_failed(verbs_.front(), status);
      status = VerbStatus::kFlushed;
    }
    unacknowledged_psn_ = next_psn_ = posted_psn_ = sent_psn_;
    deadline_ = kNever;
  }

  // Forgets all verbs, without a word to anybody. The first packet of the next one is number `psn`.
  void restart(std::uint32_t psn) {
    verbs_.clear();
    const std::uint64_t first_psn = kPsnRound + psn;
    skipped_psns_ += first_psn - sent_psn_;
    unacknowledged_psn_ = next_psn_ = posted_psn_ = sent_psn_ = first_psn;
    retries_left_ = retry_count_;
    deadline_ = kNever;
  }

 private:
  Picoseconds after_timeout(Picoseconds from) const {
    return retransmit_timeout_ == kNever ? kNever : from + retransmit_timeout_;
  }

  // The running number of `psn` that is nearest to what is outstanding.
  std::uint64_t widen(std::uint32_t psn) const {
    const std::int64_t distance = psn_distance(psn, unacknowledged_psn_);
    return unacknowledged_psn_ + static_cast<std::uint64_t>(distance);
  }

  template <class OnDone>
  void acknowledge_below(std::uint64_t psn, Picoseconds now, OnDone&& on_done) {
    if (psn <= unacknowledged_psn_ || psn > sent_psn_) return;
    unacknowledged_psn_ = psn;
    retries_left_ = retry_count_;
    deadline_ = has_outstanding() ? after_timeout(now) : kNever;
    while (!verbs_.empty() && verbs_.front().last_psn < psn) {
      on_done(verbs_.front());
      verbs_.pop();
    }
    if (next_psn_ < psn) [[unlikely]]
      go_to(psn);
  }

  bool retry() {
    if (retries_left_ == 0) return false;
    --retries_left_;
    go_to(unacknowledged_psn_);
    return true;
  }

  void go_to(std::uint64_t psn) {
    next_psn_ = psn;
    if (!has_packet()) return;
    std::uint64_t number = verbs_.head();
    while (verbs_[number].last_psn < psn) ++number;
    load_verb(number);
  }

  void load_verb(std::uint64_t number) {
    const Verb& verb = verbs_[number];
    verb_ = number;
    verb_first_psn_ = verb.first_psn;
    verb_last_psn_ = verb.last_psn;
    verb_last_payload_bytes_ = verb.last_payload_bytes;
  }

  // What a departure needs, in one cache line.
  std::uint64_t next_psn_ = 0;    // to be sent next
  std::uint64_t sent_psn_ = 0;    // one past the highest ever sent
  std::uint64_t posted_psn_ = 0;  // one past the last posted
  std::uint64_t verb_first_psn_ = 0;
  std::uint64_t verb_last_psn_ = 0;
  std::uint64_t unacknowledged_psn_ = 0;
  std::uint32_t verb_last_payload_bytes_ = 0;
  std::uint32_t mtu_bytes_;
  std::uint32_t ack_every_packets_;
  std::uint32_t retry_count_;
  // What an acknowledgement needs as well.
  Picoseconds deadline_ = kNever;
  std::uint32_t retries_left_;
  std::uint64_t verb_ = 0;  // running number of the verb that next_psn_ lies in
  Picoseconds retransmit_timeout_;
  VerbRing verbs_;
  Bytes posted_bytes_;
  std::uint64_t skipped_psns_ = 0;  // numbers below sent_psn_ that no packet had
  RequesterCounters counters_;
};

}  // namespace simulator
