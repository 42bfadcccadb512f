// The sending half of the Ultra Ethernet transport: a window of bytes, a record of each packet that is not
// acknowledged, and those that must be sent again, smallest number first: after a negative acknowledgement, or
// when nothing was heard of them. Source: Ultra Ethernet specification 1.0, packet delivery; uet-htsim's uec.cpp
// (UecSrc::processAck, processNack, rtxTimerExpired, sendNewPacket). Deviation: docs/explanation/deviations.md and docs/adr/0023.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/containers.h"
#include "reliability/nscc.h"
#include "reliability/packet_window.h"
#include "reliability/path_choice.h"
#include "reliability/requester.h"
#include "reliability/smartt_window.h"
#include "reliability/uet_settings.h"

namespace simulator {

class UetRequester final : public Requester {
 public:
  UetRequester(std::uint32_t mtu_bytes, const UetSettings& settings)
      : Requester(mtu_bytes), settings_(settings), window_(window_of(settings_)) {
    if (settings.has_credits) account_.emplace(settings.credit_max(), settings.keeps_first_credit);
  }

  bool has_packet() const override {
    if (wants_request_) return true;
    if (settings_.has_credits && !account_->may_send()) return false;
    const bool has_new = sent() < posted() && sent() - acknowledged() < window_packets();
    return (has_new || !repeats_.empty()) && has_room();
  }

  // The other windows and balancers are about as large.
  void prefetch() const override {
    prefetch_lines(window_.get(), sizeof(Nscc));
    if (paths_) prefetch_lines(paths_.get(), sizeof(PathMixed));
    packets_.prefetch(sent());
    packets_.prefetch(acknowledged());
    departures_.prefetch();
  }

  bool on_acknowledgement(const Acknowledgement& reply, Picoseconds now) override {
    const Picoseconds rtt = now - reply.echoed;
    if (settings_.has_credits) {
      last_activity_ = now;
      account_->end_speculation();
    }
    if (reply.is_credit()) {
      on_credit(reply);
    } else if (reply.is_negative) {
      on_negative(reply, rtt, now);
    } else {
      on_positive(reply, rtt, now);
    }
    follow_deadline();
    return true;
  }

  Picoseconds deadline() const override { return deadline_; }

  bool on_deadline(Picoseconds now, double /*slowness*/) override {
    while (!departures_.empty() && departures_.front().left + settings_.timeout <= now) {
      const Departure oldest = departures_.front();
      departures_.pop();
      if (is_under_way(oldest)) give_up(oldest.number, now);
    }
    if (is_starved() && !wants_request_ && last_activity_ + request_timeout() <= now) {
      wants_request_ = true;
      unanswered_requests_ = std::min(unanswered_requests_ + 1, kDoublingsMax);
    }
    follow_deadline();
    return true;
  }

  bool chooses_paths() const override { return paths_ != nullptr; }
  void use_paths(const RandomStream& stream, std::uint32_t paths) override {
    paths_ = create_path_choice(settings_.load_balancing, stream, paths, settings_.freeze);
  }
  std::uint32_t next_path() override { return paths_ ? paths_->next() : 0; }

  const CreditAccount* account() const override { return account_ ? &*account_ : nullptr; }
  std::uint32_t credit_target(std::int64_t rivals) const override {
    if (!account_) return 0;
    const auto window = settings_.has_window() ? std::optional(window_->window()) : std::nullopt;
    const std::int64_t target = account_->target(backlog(), settings_.frame(), window, rivals);
    return static_cast<std::uint32_t>(target) & DataPacket::kCreditTargetMask;
  }

  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> metrics = window_metrics();
    if (account_) account_->add_to(metrics);
    return metrics;
  }

  std::map<std::string, double> window_metrics() const {
    return {{"window_bytes", static_cast<double>(window_->window().value)},
            {"in_flight_bytes", static_cast<double>(in_flight_.value)},
            {"average_delay_ns", window_->average_delay_ps() / 1e3},
            {"base_rtt_ns", static_cast<double>(window_->base_rtt().value) / 1e3}};
  }

 protected:
  std::uint64_t next_number() const override { return repeats_.empty() ? sent() : *repeats_.begin(); }

  // The last packet, one that fills the window or takes the last credit, and one that is sent again.
  bool wants_acknowledgement() const override {
    const Bytes frame = next_frame();
    if (!repeats_.empty() || sent() + 1 == posted() || has_last_credit(frame)) return true;
    return settings_.has_window() && in_flight_ + frame + frame >= window_->window();
  }
  bool is_trimmable() const override { return true; }

  void on_packet_sent(std::uint64_t number, bool is_new, Picoseconds end) override {
    const Bytes frame = frame_of(number);
    if (!is_new) take_from_repeats(number);
    if (settings_.has_credits) on_spent(frame, is_new, end);
    packets_.begin_at(acknowledged());
    packets_[number] = {end, PacketState::kUnderWay};
    in_flight_ += frame;
    departures_.push({number, end});
    follow_deadline();
  }

  void on_request_sent(Picoseconds end) override {
    wants_request_ = false;
    reported_backlog_ = backlog();
    requested_ = last_activity_ = end;
    follow_deadline();
  }

  // Credit ahead of the request is usually available or in flight. Each packet carries the request; the last packet in
  // flight may have said that nothing more is needed.
  void on_posted() override {
    if (!settings_.has_credits || account_->may_send()) return;
    if (is_starved() || (reported_backlog_.value == 0 && backlog().value > 0)) wants_request_ = true;
  }

 private:
  static std::unique_ptr<SendWindow> window_of(const UetSettings& settings) {
    if (settings.follows_marks) return std::make_unique<MarkWindow>(settings);
    if (settings.is_smartt) return std::make_unique<SmarttWindow>(settings);
    return std::make_unique<Nscc>(settings);
  }

  // In timeouts: a receiver of many senders is slow, and what it grants is hardly ever lost.
  static constexpr std::int64_t kTimeoutsPerRequest = 32;
  static constexpr int kDoublingsMax = 6;

  struct Departure {
    std::uint64_t number;
    Picoseconds left;
  };

  void on_credit(const Acknowledgement& reply) {
    if (!settings_.has_credits) return;
    account_->on_granted(reply.granted());
    unanswered_requests_ = 0;
  }

  void on_spent(Bytes frame, bool is_new, Picoseconds end) {
    if (is_new) sent_frames_ += frame;
    account_->spend(frame);
    reported_backlog_ = backlog();
    last_activity_ = end;
  }

  bool has_last_credit(Bytes frame) const { return settings_.has_credits && account_->is_last(frame); }

  void on_positive(const Acknowledgement& reply, Picoseconds rtt, Picoseconds now) {
    const SelectiveBitmap bitmap = reply.bitmap();
    const Bytes received = std::max(Bytes{}, bitmap.received - received_);
    received_ += received;
    in_flight_ -= received;
    const std::uint64_t before = acknowledged();
    acknowledge_below(reply.expected);
    for (std::uint64_t number = before; number < acknowledged(); ++number) on_arrived(number);
    for (std::uint64_t bits = bitmap.bits, number = bitmap.first; bits != 0; bits >>= 1, ++number) {
      if ((bits & 1) != 0 && number >= acknowledged() && number < sent()) on_arrived(number);
    }
    packets_.begin_at(acknowledged());
    report(reply.entropy, reply.echoes_mark ? PathReport::kMarked : PathReport::kGood, now);
    const auto sample = is_too_short(reply, rtt) ? std::nullopt : std::optional(rtt);
    window_->on_acknowledged(received, sample, reply.echoes_mark, in_flight_, now);
  }

  // A request is short, and so is its round trip: it gives no sample for packets with payload.
  bool is_too_short(const Acknowledgement& reply, Picoseconds rtt) const {
    return reply.is_of_request && rtt < window_->base_rtt();
  }

  // Bytes that the receiver counts left the flight when they were found missing.
  void on_arrived(std::uint64_t number) {
    SentPacket& packet = packets_[number];
    if (packet.state == PacketState::kToRepeat) {
      take_from_repeats(number);
      in_flight_ += frame_of(number);
    }
    packet.state = PacketState::kArrived;
  }

  void on_negative(const Acknowledgement& reply, Picoseconds rtt, Picoseconds now) {
    const std::uint64_t number = reply.bitmap().answered;
    if (number < acknowledged() || number >= sent()) return;
    if (packets_[number].state != PacketState::kUnderWay) return;
    ++counters_.naks;
    ++recoveries_;
    const bool is_left_to_credits = settings_.has_credits && reply.is_trimmed_last;
    window_->on_trimmed(frame_of(number), rtt, is_left_to_credits, in_flight_, now);
    repeat(number);
    const PathReport of_last = reply.echoes_mark ? PathReport::kMarked : PathReport::kGood;
    report(reply.entropy, reply.is_trimmed_last ? of_last : PathReport::kTrimmed, now);
  }

  void give_up(std::uint64_t number, Picoseconds now) {
    ++counters_.timeouts;
    // The entropy of a packet without any reply is not kept: uet-htsim blames entropy 0.
    report(0, PathReport::kTimeout, now);
    window_->on_timeout(frame_of(number));
    const bool has_repeats = !repeats_.empty();
    repeat(number);
    if (!account_) return;
    if (has_repeats) account_->end_speculation();
    const bool is_late_enough = now - requested_ >= settings_.base_rtt;
    if (is_late_enough && (has_repeats || !has_room() || !account_->may_send())) wants_request_ = true;
  }

  void repeat(std::uint64_t number) {
    packets_[number].state = PacketState::kToRepeat;
    in_flight_ -= frame_of(number);
    repeats_.insert(number);
    repeat_frames_ += frame_of(number);
  }

  void take_from_repeats(std::uint64_t number) {
    repeats_.erase(number);
    repeat_frames_ -= frame_of(number);
  }

  bool has_room() const { return !settings_.has_window() || window_->window() >= in_flight_ + next_frame(); }

  // Frames that are still to be sent, for the first time or again.
  Bytes backlog() const {
    const Bytes posted_frames{posted_bytes().value +
                              static_cast<std::int64_t>(posted()) * settings_.header.value};
    return posted_frames - sent_frames_ + repeat_frames_;
  }

  // Time to wait for credit before the next request; it doubles each time.
  Picoseconds request_timeout() const {
    return {settings_.timeout.value * kTimeoutsPerRequest << unanswered_requests_};
  }

  // It has data to send, and no packet in flight could bring credit.
  bool is_starved() const {
    return settings_.has_credits && !account_->may_send() && backlog().value > 0 && departures_.empty();
  }

  void report(std::uint32_t path, PathReport report, Picoseconds now) {
    if (paths_) paths_->on_report(path, report, now);
  }

  bool is_under_way(const Departure& departure) const {
    if (departure.number < acknowledged()) return false;
    const SentPacket& packet = packets_[departure.number];
    return packet.state == PacketState::kUnderWay && packet.left == departure.left;
  }

  // The oldest packet without a reply.
  void follow_deadline() {
    while (!departures_.empty() && !is_under_way(departures_.front())) departures_.pop();
    deadline_ = kNever;
    if (settings_.timeout == kNever) return;
    if (!departures_.empty()) {
      deadline_ = departures_.front().left + settings_.timeout;
    } else if (is_starved() && !wants_request_) {
      deadline_ = last_activity_ + request_timeout();
    }
  }

  Bytes frame_of(std::uint64_t number) const { return Bytes{payload_bytes_of(number)} + settings_.header; }
  Bytes next_frame() const { return frame_of(next_number()); }

  UetSettings settings_;
  std::unique_ptr<SendWindow> window_;
  std::unique_ptr<PathChoice> paths_;
  PacketWindow packets_;             // from the first that is not acknowledged on
  std::set<std::uint64_t> repeats_;  // to be sent again
  Ring<Departure> departures_;       // in order
  Bytes in_flight_;
  Bytes sent_frames_;       // each once; with credits
  Bytes repeat_frames_;     // of `repeats_`
  Bytes reported_backlog_;  // what was left to send when the receiver last heard of it
  Bytes received_;          // frames, as the receiver counts them
  Picoseconds deadline_ = kNever;
  std::optional<CreditAccount> account_;
  Picoseconds requested_{-settings_.base_rtt.value};  // the last time
  Picoseconds last_activity_;
  int unanswered_requests_ = 0;
};

}  // namespace simulator
