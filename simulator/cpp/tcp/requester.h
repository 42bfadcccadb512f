// The sender of a TCP connection, and its estimate of the round trip.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/units.h"
#include "reliability/requester.h"
#include "tcp/scoreboard.h"
#include "tcp/settings.h"
#include "tcp/window_control.h"

namespace simulator {

// Round trips and the timeout that follows from them. The clock has no granularity worth speaking of.
// Source: RFC 6298, section 2; Karn's rule is the caller's.
class RoundTrip {
 public:
  // Before the first sample the timeout is its minimum: a connection begins as after a handshake, which has
  // measured a round trip far shorter than that. Deviation: RFC 6298 begins with one second.
  RoundTrip(Picoseconds minimum, Picoseconds maximum) : minimum_(minimum), maximum_(maximum) {}

  // srtt = 7/8 srtt + 1/8 r; rttvar = 3/4 rttvar + 1/4 |srtt - r|, with the old srtt.
  void add(Picoseconds sample) {
    if (!has_sample_) {
      has_sample_ = true;
      smoothed_ = sample;
      variation_ = {sample.value / 2};
    } else {
      const std::int64_t error = std::abs(smoothed_.value - sample.value);
      variation_.value += (error - variation_.value) / 4;
      smoothed_.value += (sample.value - smoothed_.value) / 8;
    }
    doublings_ = 0;
  }

  // srtt + 4 rttvar within its bounds, doubled at each timeout since the last sample.
  Picoseconds timeout() const {
    const Picoseconds measured = has_sample_ ? smoothed_ + Picoseconds{4 * variation_.value} : minimum_;
    std::int64_t value = std::clamp(measured, minimum_, maximum_).value;
    for (std::uint32_t n = 0; n < doublings_ && value < maximum_.value; ++n) value *= 2;
    return std::min(Picoseconds{value}, maximum_);
  }

  void on_timeout() { ++doublings_; }
  bool has_sample() const { return has_sample_; }
  Picoseconds smoothed() const { return smoothed_; }
  Picoseconds variation() const { return variation_; }

 private:
  Picoseconds minimum_;
  Picoseconds maximum_;
  Picoseconds smoothed_;
  Picoseconds variation_;
  std::uint32_t doublings_ = 0;
  bool has_sample_ = false;
};

// The sending half of a TCP connection: what may be sent next, what an acknowledgement means, when to send
// again. A connection exists from the start; the receiver's window does not move.
// Source: RFC 5681 (windows), RFC 6675 (recovery with blocks), RFC 6582 (NewReno, without), RFC 6298 (timer),
// RFC 3168, section 6.1.2 (marks).
class TcpRequester final : public Requester {
 public:
  TcpRequester(const TcpSettings& settings, std::unique_ptr<WindowControl> control)
      : Requester(settings.segment_bytes),
        settings_(settings),
        control_(std::move(control)),
        round_trip_(settings.rto_minimum, settings.rto_maximum),
        board_(settings.segment_bytes) {}

  bool has_packet() const override { return choice_ != Choice::kNothing; }

  bool on_acknowledgement(const Acknowledgement& acknowledgement, Picoseconds now) override {
    const Bytes in_flight = this->in_flight();
    acknowledge_below(acknowledgement.expected);
    const Scoreboard::Acknowledged acknowledged = board_.acknowledge(acknowledgement.expected);
    const bool has_news = acknowledged.segments > 0;
    if (has_news) on_news(acknowledged, now);
    take_blocks(acknowledgement, has_news);
    const bool is_echo = acknowledgement.echoes_mark && settings_.echo != TcpEcho::kNone;
    control_->on_acknowledged(progress(acknowledged.bytes, is_echo, in_flight, now));
    if (is_echo) reduce();
    recover(has_news);
    choose();
    return true;
  }

  Picoseconds deadline() const override { return deadline_; }

  bool on_deadline(Picoseconds now, double /*slowness*/) override {
    ++counters_.timeouts;
    if (++timeouts_in_a_row_ > settings_.retries) return false;
    control_->on_timeout(board_.outstanding(), timeouts_in_a_row_ == 1);
    round_trip_.on_timeout();
    board_.lose_all();
    state_ = State::kLoss;
    recovery_end_ = reduction_end_ = board_.end();
    is_reducing_ = must_resend_ = false;
    must_send_cwr_ = settings_.echo == TcpEcho::kLatched;
    duplicates_ = 0;
    deadline_ = now + round_trip_.timeout();
    choose();
    return true;
  }

  std::uint32_t frame_bytes(const DataPacket& segment, const Framing&) const override {
    return segment.payload_bytes + settings_.overhead_bytes;
  }

  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> metrics = control_->metrics();
    metrics["window_bytes"] = static_cast<double>(control_->window().value);
    metrics["threshold_bytes"] = static_cast<double>(control_->threshold().value);
    metrics["in_flight_bytes"] = static_cast<double>(in_flight().value);
    metrics["rto_ps"] = static_cast<double>(round_trip_.timeout().value);
    metrics["srtt_ps"] = static_cast<double>(round_trip_.smoothed().value);
    metrics["is_recovering"] = state_ == State::kRecovery;
    metrics["has_timed_out"] = state_ == State::kLoss;
    metrics["reductions"] = static_cast<double>(reductions_);
    return metrics;
  }

  WindowControl& control() { return *control_; }

 protected:
  std::uint64_t next_number() const override { return choice_ == Choice::kNew ? sent() : chosen_; }
  bool has_reduced() const override { return must_send_cwr_ && choice_ == Choice::kNew; }
  bool is_ecn_capable() const override { return settings_.echo != TcpEcho::kNone; }

  void on_packet_sent(std::uint64_t number, bool is_new, Picoseconds end) override {
    const bool is_idle = board_.empty() && end - last_sent_ > round_trip_.timeout();
    if (is_idle) control_->on_idle({std::int64_t{settings_.initial_window_segments} * mtu_bytes()});
    if (deadline_ == kNever) deadline_ = end + round_trip_.timeout();
    last_sent_ = end;
    if (is_new) {
      board_.push(payload_bytes_of(number), end);
      must_send_cwr_ = false;
    } else {
      must_resend_ = false;
      may_rescue_ = may_rescue_ && choice_ != Choice::kRescue;
      board_.resend(number, end, choice_ != Choice::kRescue);
    }
    choose();
  }

  void on_posted() override { choose(); }

 private:
  enum class State : std::uint8_t { kOpen, kRecovery, kLoss };  // kLoss: after a timeout
  enum class Choice : std::uint8_t { kNothing, kNew, kLost, kDoubtful, kRescue };

  // Without blocks each duplicate stands for a segment that has left the network: NewReno inflates its window
  // for the same reason.
  Bytes in_flight() const {
    const bool counts_duplicates = !settings_.is_selective && state_ != State::kLoss;
    const Bytes gone{std::int64_t{counts_duplicates ? duplicates_ : 0} * mtu_bytes()};
    return std::max(board_.in_flight() - gone, Bytes{});
  }

  // Something is acknowledged by the number for the first time.
  void on_news(const Scoreboard::Acknowledged& acknowledged, Picoseconds now) {
    if (acknowledged.sent != kNever) round_trip_.add(now - acknowledged.sent);
    timeouts_in_a_row_ = 0;
    deadline_ = board_.empty() ? kNever : now + round_trip_.timeout();
    const bool is_partial = state_ == State::kRecovery && board_.first() < recovery_end_;
    const auto others =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(acknowledged.segments - 1, duplicates_));
    duplicates_ = is_partial && !settings_.is_selective ? duplicates_ - others : 0;
  }

  void take_blocks(const Acknowledgement& acknowledgement, bool has_news) {
    bool is_duplicate = !has_news && !board_.empty();
    if (settings_.is_selective) {
      bool has_blocks_with_news = false;
      for (std::uint32_t i = 0; i < acknowledgement.ranges; ++i) {
        if (board_.select(acknowledgement.selective[i])) has_blocks_with_news = true;
      }
      if (has_blocks_with_news) board_.find_losses();
      is_duplicate = is_duplicate && has_blocks_with_news;
    }
    if (is_duplicate) ++duplicates_;
  }

  // The acknowledgement that ends the window still speaks of a segment that left before the reduction: only what is
  // acknowledged beyond is news. Source: RFC 3168, section 6.1.2; RFC 8257, section 3.3; Linux also leaves CWR then.
  bool is_reduction_over() const { return reduction_end_ == 0 || board_.first() > reduction_end_; }

  // The receiver has seen marks: once for each window, and not where a loss has reduced it already.
  void reduce() {
    if (!is_reduction_over() || state_ == State::kRecovery) return;
    control_->on_marked();
    ++reductions_;
    reduction_end_ = board_.end();
    is_reducing_ = must_send_cwr_ = true;
  }

  TcpProgress progress(Bytes acknowledged, bool is_echo, Bytes in_flight, Picoseconds now) {
    const bool is_window_over = board_.first() >= window_end_;
    if (is_window_over) window_end_ = board_.end();
    if (is_reduction_over()) is_reducing_ = false;
    // A window that was not full says nothing about the network. Source: RFC 7661, section 4.1; by how much it
    // may be unused is that of Linux (tcp_is_cwnd_limited).
    const std::int64_t used =
        control_->is_in_slow_start() ? 2 * in_flight.value : in_flight.value + mtu_bytes();
    return {.now = now,
            .acknowledged = acknowledged,
            .is_echo = is_echo,
            .is_window_over = is_window_over,
            .may_grow =
                state_ != State::kRecovery && !is_reducing_ && !is_echo && used > control_->window().value,
            .round_trip = round_trip_.has_sample() ? round_trip_.smoothed() : kNever};
  }

  void recover(bool has_news) {
    if (state_ != State::kOpen && board_.first() >= recovery_end_) state_ = State::kOpen;
    if (state_ == State::kRecovery) {
      if (has_news && !settings_.is_selective) repair_first();
    } else if (state_ == State::kOpen && !board_.empty() &&
               (is_enough_duplicates() || board_.is_first_lost())) {
      enter_recovery();
    }
  }

  // Without blocks the duplicates of a number that ended a recovery may be due to what was sent twice in it.
  // Source: RFC 6582, section 3.2, step 2, and section 4.
  bool is_enough_duplicates() const {
    const bool is_beyond_recovery =
        settings_.is_selective || recovery_end_ == 0 || board_.first() > recovery_end_;
    return duplicates_ >= Scoreboard::kDuplicatesMax && is_beyond_recovery;
  }

  // Source: RFC 6582, section 3.2 (partial acknowledgement), and RFC 6675, section 5, (4.3): without waiting
  // for room.
  void repair_first() {
    board_.lose_first();
    must_resend_ = true;
  }

  void enter_recovery() {
    const bool has_reduced = settings_.echo == TcpEcho::kLatched && board_.first() < reduction_end_;
    if (!has_reduced) control_->on_loss(board_.outstanding());
    repair_first();
    ++counters_.naks;
    state_ = State::kRecovery;
    recovery_end_ = reduction_end_ = board_.end();
    is_reducing_ = false;
    must_send_cwr_ = may_rescue_ = true;
  }

  // Decides what to send next.
  void choose() {
    choice_ = Choice::kNothing;
    const std::int64_t room = control_->window().value - in_flight().value;
    if (state_ != State::kOpen && pick(board_.lost(), Choice::kLost, must_resend_ ? mtu_bytes() : room))
      return;
    if (may_send_new(room)) {
      choice_ = Choice::kNew;
      return;
    }
    if (state_ != State::kRecovery || !settings_.is_selective || sent() < posted()) return;
    if (pick(board_.doubtful(), Choice::kDoubtful, room)) return;
    if (may_rescue_) pick(board_.last(), Choice::kRescue, room);
  }

  bool pick(std::optional<std::uint64_t> number, Choice choice, std::int64_t room) {
    if (!number || board_[*number].payload_bytes > room) return false;
    chosen_ = *number;
    choice_ = choice;
    return true;
  }

  // A short segment needs as much room as a full one. Source: RFC 6675, section 5, (C).
  bool may_send_new(std::int64_t room) const {
    return sent() < posted() && mtu_bytes() <= room &&
           board_.outstanding().value + mtu_bytes() <= settings_.receive_window.value;
  }

  TcpSettings settings_;
  std::unique_ptr<WindowControl> control_;
  RoundTrip round_trip_;
  Scoreboard board_;
  State state_ = State::kOpen;
  Choice choice_ = Choice::kNothing;
  std::uint64_t chosen_ = 0;
  std::uint64_t recovery_end_ = 0;   // recovery is over when everything below is acknowledged
  std::uint64_t reduction_end_ = 0;  // the same for the last reduction
  std::uint64_t window_end_ = 0;     // and for the window of marks, as next_seq of Linux
  std::uint64_t reductions_ = 0;     // because of marks
  std::uint32_t duplicates_ = 0;
  std::uint32_t timeouts_in_a_row_ = 0;
  bool is_reducing_ = false;    // because of marks: the window does not grow
  bool must_send_cwr_ = false;  // the next new segment has CWR
  bool must_resend_ = false;
  bool may_rescue_ = false;
  Picoseconds deadline_ = kNever;
  Picoseconds last_sent_;
};

}  // namespace simulator
