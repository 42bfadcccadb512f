// The sending half of IRN: repeats exactly what is missing, as negative acknowledgements tell, and has no
// more packets in flight than the path holds. Source: Mittal et al., "Revisiting network support for RDMA",
// SIGCOMM 2018, sections 3.1 and 3.2; where the text leaves a choice, the authors' hardware model
// irn-vivado-hls.
#pragma once

#include <algorithm>

#include "reliability/irn_settings.h"
#include "reliability/irn_timer.h"
#include "reliability/packet_set.h"
#include "reliability/requester.h"

namespace simulator {

class IrnRequester final : public Requester {
 public:
  IrnRequester(std::uint32_t mtu_bytes, const IrnSettings& settings, std::uint64_t threshold_nacks)
      : Requester(mtu_bytes),
        cap_packets_(settings.cap()),
        threshold_nacks_(threshold_nacks),
        timer_(settings.timer()) {}

  bool has_packet() const override { return must_repeat() || may_send_new(); }

  bool on_acknowledgement(const Acknowledgement& acknowledgement, Picoseconds now) override {
    const bool is_news = acknowledge_below(acknowledgement.expected);
    if (is_news) on_progress(now);
    if (acknowledgement.is_negative) {
      ++counters_.naks;
      on_selective(acknowledgement.selective[0].first);
    }
    if (acknowledgement.expected > recovery_end_) end_recovery();
    const bool is_passed = repeat_ < acknowledged() || (repeat_ == acknowledged() && has_repeat());
    if (is_news && is_recovering_ && is_passed) repeat_oldest();
    if (is_news) nacks_ = 0;
    const bool tells_of_loss = !is_news && acknowledgement.is_negative && ++nacks_ >= threshold_nacks_;
    if (tells_of_loss && !is_recovering_ && is_in_flight()) recover();
    settle();
    return true;
  }

  Picoseconds deadline() const override { return timer_.deadline(); }

  bool on_deadline(Picoseconds now, double slowness) override {
    if (!timer_.has_expired(packets_in_flight(), slowness)) return true;
    ++counters_.timeouts;
    repeat_oldest();
    timer_.start(now);
    return true;
  }

 protected:
  std::uint64_t next_number() const override { return must_repeat() ? repeat_ : sent(); }

  void on_packet_sent(std::uint64_t number, bool is_new, Picoseconds end) override {
    if (!timer_.is_armed()) timer_.start(end);
    if (is_new) {
      give_up_stale();
    } else {
      if (number == acknowledged()) is_recovering_ = true;
      recovery_end_ = sent() - 1;
      repetition_ = Repetition::kSought;
    }
    search();
    settle();
  }

 private:
  // The next packet that is to be sent again.
  enum class Repetition : std::uint8_t {
    kNone,    // there is none
    kSought,  // is looked for as soon as another one has left
    kFound,   // is number `repeat_`
  };

  bool has_repeat() const { return repetition_ == Repetition::kFound; }
  bool must_repeat() const { return has_repeat() && repeat_ >= acknowledged(); }
  bool may_send_new() const {
    return sent() < posted() && packets_in_flight() < std::min(cap_packets_, window_packets());
  }
  bool is_in_flight() const { return acknowledged() < sent(); }
  std::uint64_t packets_in_flight() const { return sent() - acknowledged(); }

  void repeat_oldest() {
    repeat_ = acknowledged();
    repetition_ = Repetition::kFound;
  }

  // As negative acknowledgements tell.
  void recover() {
    if (acknowledged() >= recovered_below_) ++recoveries_;
    recovered_below_ = acknowledged() + 1;
    repeat_oldest();
  }

  void end_recovery() {
    is_recovering_ = false;
    repetition_ = Repetition::kNone;
  }

  void on_progress(Picoseconds now) {
    selective_.advance(acknowledged());
    if (is_in_flight()) {
      timer_.start(now);
    } else {
      timer_.stop();
    }
  }

  void on_selective(std::uint64_t number) {
    selective_.add(number);
    if (!is_recovering_) return;
    // The one that was to be repeated is here, or a later one than all before.
    const bool must_search = has_repeat() ? repeat_ == number : !selective_.has_above(number);
    if (must_search) repetition_ = Repetition::kSought;
  }

  // What was to be repeated has come meanwhile.
  void give_up_stale() {
    if (has_repeat()) repetition_ = Repetition::kNone;
  }

  // Looks for the next packet that is missing: one that a later one has overtaken.
  void search() {
    if (repetition_ != Repetition::kSought) return;
    repetition_ = Repetition::kNone;
    const std::uint64_t from = repeat_ >= acknowledged() ? repeat_ + 1 : acknowledged();
    const std::uint64_t missing = selective_.first_missing(from);
    if (!selective_.has_above(missing)) return;
    repeat_ = missing;
    repetition_ = Repetition::kFound;
  }

  // The hardware searches at each opportunity to send, also if it has nothing to send.
  void settle() {
    if (must_repeat() || may_send_new()) return;
    give_up_stale();
    search();
  }

  std::uint64_t cap_packets_;
  std::uint64_t threshold_nacks_;
  IrnTimer timer_;
  PacketSet selective_;      // came, but not all before them
  std::uint64_t nacks_ = 0;  // since the last progress
  std::uint64_t recovered_below_ = 0;
  std::uint64_t repeat_ = 0;        // to be sent again once it is found; afterwards the last that was
  std::uint64_t recovery_end_ = 0;  // highest packet sent when one was repeated
  Repetition repetition_ = Repetition::kNone;
  bool is_recovering_ = false;
};

}  // namespace simulator
