// The sending half of a connection: go-back-N with retry counter and timeout. It does no I/O and keeps no
// clock: an engine asks for the next packet, reports departures and replies, and wakes it at
// `deadline()`. On an unreliable connection nothing comes back: the engine acknowledges what has left.
// Source: InfiniBand architecture, volume 1, 9.7 (reliable service); Linux rxe (rxe_req.c, rxe_comp.c).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "base/check.h"
#include "protocol/packet_kind.h"
#include "protocol/queue_pair.h"

namespace simulator {

class alignas(64) RcRequester {
 public:
  // READs that may be under way at once (max_rd_atomic). Source: limit of ConnectX cards.
  static constexpr std::uint32_t kReadsMax = 16;

  // Packet numbers on the wire have 24 bits: of more packets at once, one could be taken for another.
  // Source: InfiniBand architecture, volume 1, 9.7.2 (at most 2^23 packets outstanding).
  static constexpr std::uint64_t kOutstandingMax = std::uint64_t{1} << 23;

  explicit RcRequester(const RequesterSettings& settings)
      : mtu_bytes_(settings.mtu_bytes),
        ack_every_packets_(settings.ack_every_packets),
        is_unreliable_(settings.is_unreliable),
        withholds_next_verb_(settings.withholds_next_verb),
        retrying_(settings.retrying),
        retry_count_(settings.retry_count),
        retries_left_(settings.retry_count),
        cap_packets_(settings.cap_packets()),
        window_packets_(cap_packets_),
        after_nak_max_(settings.packets_after_nak_max),
        retransmit_timeout_(settings.is_unreliable ? kNever : settings.retransmit_timeout) {}

  // Adds a verb; the numbers and sizes of its packets follow from it.
  void post(Verb verb) {
    const std::int64_t packets = packets_of(verb.length);
    verb.first_psn = posted_psn_;
    verb.last_psn = posted_psn_ + static_cast<std::uint64_t>(packets) - 1;
    verb.last_payload_bytes = static_cast<std::uint32_t>(verb.length.value - (packets - 1) * mtu_bytes_);
    const bool is_next = next_psn_ == posted_psn_;
    const bool is_free = sendable_psn_ == posted_psn_;
    verbs_.push(verb);
    posted_psn_ = verb.last_psn + 1;
    posted_bytes_ += verb.length;
    reads_posted_ += verb.kind == VerbKind::kRead;
    if (is_free) sendable_psn_ = allowed_psn();
    if (is_next) load_verb();
  }

  void set_window(std::uint64_t packets) {  // largest number of packets in flight; new ones wait
    const std::uint64_t window = std::min(packets, cap_packets_);
    if (window == window_packets_) return;
    window_packets_ = window;
    reconsider_waiting();
  }
  bool has_packet() const { return next_psn_ < sendable_psn_; }
  bool has_outstanding() const { return unacknowledged_psn_ < sent_psn_; }
  std::uint64_t next_psn() const { return next_psn_; }
  std::uint64_t sent_psn() const { return sent_psn_; }
  std::uint64_t unacknowledged_psn() const { return unacknowledged_psn_; }
  bool is_idle() const { return verbs_.empty(); }
  bool has_ever_posted() const { return verbs_.tail() != 0; }
  std::uint64_t sent_packets() const { return sent_psn_ - skipped_psns_ + counters_.retransmitted_packets; }
  Bytes posted_bytes() const { return posted_bytes_; }
  Bytes read_bytes() const { return read_bytes_; }  // that came back in order
  Picoseconds deadline() const { return deadline_; }
  const RequesterCounters& counters() const { return counters_; }
  Picoseconds left_nic(std::uint64_t wr_id) const {
    for (std::uint64_t number = verbs_.head(); number != verbs_.tail(); ++number)
      if (verbs_[number].wr_id == wr_id) return verbs_[number].left_nic;
    return kNever;
  }
  std::uint32_t mtu_bytes() const { return mtu_bytes_; }
  std::int64_t packets_of(Bytes length) const {
    return std::max<std::int64_t>(1, (length.value + mtu_bytes_ - 1) / mtu_bytes_);
  }

  // The next packet is a plain one of an RC WRITE: then plan() and on_sent(), else describe() and
  // on_described_sent(). After describe_all() none is.
  bool is_plain() const { return is_plain_; }
  void describe_all() { is_described_ = true, is_plain_ = false; }

  PacketPlan plan() const {
    const bool is_first = next_psn_ == verb_first_psn_;
    const bool is_last = next_psn_ == verb_last_psn_;
    const auto nth = static_cast<std::uint32_t>(next_psn_ - verb_first_psn_) + 1 + ack_shift_;
    const bool wants_ack = is_last || ack_every_packets_ == 1 || nth % ack_every_packets_ == 0;
    return {is_last ? verb_last_payload_bytes_ : mtu_bytes_, is_first, is_last, wants_ack};
  }

  PacketDescription describe() const;
  // The planned packet's last byte left the NIC at `end`.
  void on_sent(const PacketPlan& plan, Picoseconds end) {
    if (!has_outstanding()) deadline_ = after_timeout(end);
    if (next_psn_ == sent_psn_) {
      ++sent_psn_;
      if (sent_psn_ - unacknowledged_psn_ > kOutstandingMax) [[unlikely]]
        refuse_ambiguity();
      if (plan.is_last) verbs_[next_verb_].left_nic = end;
    } else {
      counters_.retransmitted_bytes.value += plan.payload_bytes;
      ++counters_.retransmitted_packets;
    }
    ++next_psn_;
    if (plan.is_last) load_next_verb();
    if (!has_packet()) [[unlikely]]
      go_back_if_due();
  }

  void on_described_sent(const PacketDescription& packet, Picoseconds end) {
    if (packet.kind != PacketKind::kReadRequest) return on_sent(plan(), end);
    on_read_sent(packet, end);
    if (!has_packet()) go_back_if_due();
  }

  // ACK of `psn` and everything before it. `on_done(verb)` is called for each verb it completes. Like the
  // next two, returns false when the retries are exhausted: call fail() then.
  template <class OnDone>
  [[nodiscard]] bool on_ack(std::uint32_t psn, Picoseconds now, OnDone&& on_done) {
    const std::uint64_t end = widen(psn) + 1;
    if (reads_posted_ == 0) [[likely]] {
      acknowledge_below(end, now, on_done);
      return true;
    }
    if (end > sent_psn_) return true;  // stale
    const std::uint64_t missing = missing_response();
    acknowledge_below(std::min(end, missing), now, on_done);
    return end <= missing || on_gap();
  }

  // NAK: the responder expects `psn`.
  template <class OnDone>
  [[nodiscard]] bool on_nak(std::uint32_t psn, Picoseconds now, OnDone&& on_done) {
    const std::uint64_t expected = widen(psn);
    if (expected < unacknowledged_psn_ || expected >= sent_psn_) return true;  // stale
    ++counters_.naks;
    const std::uint64_t allowed = has_packet() ? sendable_psn_ : kNone;
    acknowledge_below(std::min(expected, missing_response()), now, on_done, retrying_.refills_per_verb);
    if (retrying_.ignores_naks && is_retrying_) return true;
    if (after_nak_max_ == 0) return retry();
    if (!take_retry()) return false;
    go_back_psn_ = std::min({go_back_psn_, allowed, next_psn_ + after_nak_max_});
    reconsider_waiting();
    return true;
  }

  // A response to a READ; if it is the last, `left` is its left_nic. Sets `is_accepted` if its bytes count.
  template <class OnDone>
  [[nodiscard]] bool on_response(std::uint32_t psn, Bytes payload, Picoseconds left, Picoseconds now,
                                 bool& is_accepted, OnDone&& on_done) {
    const std::uint64_t number = widen(psn);
    const std::uint64_t missing = missing_response();
    if (number < missing || number >= sent_psn_) return true;  // stale
    if (number > missing) {
      const bool is_of_same_read = number <= verbs_[first_read()].last_psn;
      return retrying_.waits_at_read_gap && is_of_same_read ? true : on_gap();
    }
    is_accepted = true;
    Verb& read = verbs_[first_read()];
    if (number == read.last_psn) read.left_nic = left;
    read_bytes_ += payload;
    acknowledge_below(number + 1, now, on_done);
    return true;
  }

  // On an unreliable connection a verb is done when its last packet has left.
  template <class OnDone>
  void on_left(Picoseconds now, OnDone&& on_done) {
    while (oldest_left() <= now) acknowledge_below(verbs_.front().last_psn + 1, now, on_done);
  }

  // Call when `deadline()` has come.
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
    start_at(sent_psn_);
  }

  // Forgets all verbs, without a word to anybody. The first packet of the next one is number `psn`.
  void restart(std::uint32_t psn) {
    const std::uint64_t first_psn = kPsnRound + psn;
    skipped_psns_ += first_psn - sent_psn_;
    verbs_.clear();
    start_at(first_psn);
    retries_left_ = retry_count_;
  }

  // When the last packet of the oldest verb left; kNever while it has not.
  Picoseconds oldest_left() const {
    return !verbs_.empty() && verbs_.front().last_psn < sent_psn_ ? verbs_.front().left_nic : kNever;
  }

  // When the oldest verb left the NIC. While it has not left: an instant up to which it cannot have, if nothing
  // of this queue pair starts before `from`.
  Picoseconds oldest_left_after(Picoseconds from, std::int64_t overhead_bytes, double ps_per_byte) const {
    const Verb& verb = verbs_.front();
    if (verb.last_psn < sent_psn_) return verb.left_nic;
    const std::uint64_t sent = std::max(next_psn_, verb.first_psn) - verb.first_psn;
    const auto packets = static_cast<std::int64_t>(verb.last_psn + 1 - verb.first_psn - sent);
    const std::int64_t payload = verb.length.value - static_cast<std::int64_t>(sent) * mtu_bytes_;
    // Each packet's duration is rounded to a picosecond.
    return from + duration_of({payload + packets * overhead_bytes}, ps_per_byte) - Picoseconds{packets};
  }

 private:
  [[noreturn]] static void refuse_ambiguity() {
    throw SimulationError("more than " + std::to_string(kOutstandingMax) +
                          " packets of a queue pair wait for their acknowledgement, which packet numbers of "
                          "24 bits cannot tell apart: post less at once, or use a larger mtu_bytes");
  }

  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  Picoseconds after_timeout(Picoseconds from) const {
    return retransmit_timeout_ == kNever ? kNever : from + retransmit_timeout_;
  }

  // The running number of `psn` that is nearest to what is outstanding.
  std::uint64_t widen(std::uint32_t psn) const {
    const std::int64_t distance = psn_distance(psn, unacknowledged_psn_);
    return unacknowledged_psn_ + static_cast<std::uint64_t>(distance);
  }

  // A READ is one packet, and has the numbers of all its responses.
  void on_read_sent(const PacketDescription& packet, Picoseconds end) {
    if (!has_outstanding()) deadline_ = after_timeout(end);
    const std::uint64_t end_psn = verb_last_psn_ + 1;
    if (next_psn_ == sent_psn_) {
      skipped_psns_ += end_psn - sent_psn_ - 1;
      sent_psn_ = end_psn;
      if (sent_psn_ - unacknowledged_psn_ > kOutstandingMax) refuse_ambiguity();
    } else {
      counters_.retransmitted_bytes += packet.details.length;
      ++counters_.retransmitted_packets;
    }
    ++reads_under_way_;
    next_psn_ = end_psn;
    load_next_verb();
  }

  std::uint64_t first_read() const {
    std::uint64_t number = verbs_.head();
    while (number != verbs_.tail() && verbs_[number].kind != VerbKind::kRead) ++number;
    return number;
  }

  // Number of the response that must come next; nothing from there on can be acknowledged.
  std::uint64_t missing_response() const {
    if (reads_posted_ == 0) return kNone;
    return std::max(unacknowledged_psn_, verbs_[first_read()].first_psn);
  }

  // Replies keep their order, so a later one means that a response was lost. Only the first one after a gap
  // counts, as with NAKs.
  [[nodiscard]] bool on_gap() {
    if (is_gap_known_ || (retrying_.ignores_naks && is_retrying_)) return true;
    ++counters_.naks;
    return retry();
  }

  // Progress refills the retries. Source: InfiniBand architecture, volume 1, 9.9.2.1.1 (the counter is reloaded
  // whenever an outstanding request is cleared), read as request packet; `per_verb`, as message.
  template <class OnDone>
  void acknowledge_below(std::uint64_t psn, Picoseconds now, OnDone&& on_done, bool per_verb = false) {
    if (psn <= unacknowledged_psn_ || psn > sent_psn_) return;
    unacknowledged_psn_ = psn;
    if (!per_verb || (!verbs_.empty() && verbs_.front().last_psn < psn)) {
      retries_left_ = retry_count_;
      is_retrying_ = false;
    }
    is_gap_known_ = false;
    deadline_ = has_outstanding() ? after_timeout(now) : kNever;
    while (!verbs_.empty() && verbs_.front().last_psn < psn) {
      on_done(verbs_.front());
      if (verbs_.front().kind == VerbKind::kRead) on_read_done();
      verbs_.pop();
    }
    if (next_psn_ < psn) [[unlikely]]
      return rewind_to(psn);
    if (sendable_psn_ != posted_psn_) [[unlikely]]
      reconsider_waiting();
  }

  void on_read_done() {
    --reads_posted_;
    if (verbs_.head() < next_verb_) --reads_under_way_;
  }

  // Retries, and the verb that the next packet belongs to: rc_going_back.h.
  bool take_retry();
  bool retry();
  void go_back();
  void go_back_if_due();
  void rewind_to(std::uint64_t psn);
  std::uint64_t place_in_verb() const;
  void keep_ack_count(std::uint64_t since);
  void skip_to_verb_of(std::uint64_t psn);
  void start_at(std::uint64_t psn);
  void load_verb();

  void load_next_verb() {
    ++next_verb_;
    ack_shift_ = 0;
    if (next_psn_ != posted_psn_) load_verb();
  }

  void reconsider_waiting() {
    if (next_psn_ == posted_psn_) {
      sendable_psn_ = posted_psn_;
    } else {
      load_verb();
    }
    if (!has_packet()) go_back_if_due();
  }
  std::uint64_t allowed_psn() const {
    return std::min({posted_psn_, unacknowledged_psn_ + window_packets_, go_back_psn_});
  }

  // Fields that a departure needs, in one cache line.
  std::uint64_t next_psn_ = 0;      // to be sent next
  std::uint64_t sent_psn_ = 0;      // one past the highest ever sent
  std::uint64_t sendable_psn_ = 0;  // one past the last that need not wait
  std::uint64_t verb_first_psn_ = 0, verb_last_psn_ = 0;
  std::uint64_t unacknowledged_psn_ = 0;
  std::uint32_t mtu_bytes_, ack_every_packets_;
  std::uint32_t ack_shift_ = 0;  // by which a request for an ACK comes before its place in the verb
  std::uint16_t verb_last_payload_bytes_ = 0;
  bool is_plain_ = true;
  bool is_unreliable_, is_described_ = is_unreliable_;  // every packet
  bool withholds_next_verb_;
  // Fields that an acknowledgement also needs.
  std::uint64_t posted_psn_ = 0;  // one past the last posted
  Picoseconds deadline_ = kNever;
  RetryRules retrying_;
  std::uint32_t retry_count_, retries_left_, reads_posted_ = 0, reads_under_way_ = 0;  // requests sent
  bool is_gap_known_ = false, is_retrying_ = false;  // retrying: since the retries were refilled
  std::uint64_t recovery_end_psn_ = 0;  // what lies below has been lost or discarded, and is sent again
  std::uint64_t cap_packets_, window_packets_;  // largest numbers in flight: the card's limit, and within it
  std::uint64_t after_nak_max_, go_back_psn_ = kNone;  // going back when this one is next
  std::uint64_t next_verb_ = 0;                        // running number of the verb that next_psn_ lies in
  Picoseconds retransmit_timeout_;
  VerbRing verbs_;
  Bytes posted_bytes_, read_bytes_;
  std::uint64_t skipped_psns_ = 0;  // numbers below sent_psn_ that no packet had
  RequesterCounters counters_;
};

inline PacketDescription RcRequester::describe() const {
  const Verb& verb = verbs_[next_verb_];
  const auto offset = static_cast<std::int64_t>(next_psn_ - verb.first_psn) * mtu_bytes_;
  PacketDescription packet{.kind = PacketKind::kMessage,
                           .flags = PacketFlags::kFirst,
                           .psn = static_cast<std::uint32_t>(next_psn_),
                           .payload_bytes = 0,
                           .details = {.length = verb.length,
                                       .local_offset = verb.local_offset + offset,
                                       .remote_offset = verb.remote_offset + offset,
                                       .left = {},
                                       .immediate = verb.immediate.value_or(0)}};
  if (verb.kind == VerbKind::kRead) {
    packet.kind = PacketKind::kReadRequest;
    packet.details.length.value -= offset;
    return packet;
  }
  const PacketPlan plan = this->plan();
  if (is_unreliable_) packet.kind = PacketKind::kUnreliable;
  packet.payload_bytes = plan.payload_bytes;
  packet.flags = static_cast<std::uint8_t>((plan.is_first ? PacketFlags::kFirst : 0) |
                                           (plan.is_last ? PacketFlags::kLast : 0) |
                                           (plan.wants_ack ? PacketFlags::kWantsAck : 0) |
                                           (verb.kind == VerbKind::kSend ? PacketFlags::kSend : 0) |
                                           (plan.is_last && verb.immediate ? PacketFlags::kImmediate : 0));
  return packet;
}

}  // namespace simulator

#include "protocol/rc_going_back.h"  // IWYU pragma: export
