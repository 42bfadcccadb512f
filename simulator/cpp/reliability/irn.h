// IRN: selective repeat with a cap on packets in flight.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/units.h"
#include "cc/parameters.h"
#include "protocol/queue_pair.h"
#include "reliability/kind.h"
#include "reliability/packet_window.h"
#include "reliability/requester.h"
#include "reliability/responder.h"
#include "reliability/uet_responder.h"

namespace simulator {

// IRN's retransmission timer: short while few packets are in flight, long otherwise. Source: Mittal et al.,
// "Revisiting network support for RDMA", SIGCOMM 2018, section 3.1; the authors' hardware model
// irn-vivado-hls (the short timer is stretched when it comes up, also for a slow queue pair).
class IrnTimer {
 public:
  // With a slowness above this the short timer would come up too early. Source: irn-vivado-hls.
  static constexpr double kSlownessMax = 4;

  // `low` kNever: no timer at all.
  IrnTimer(Picoseconds low, Picoseconds high, std::uint64_t packets)
      : low_(low), high_(high), packets_(packets) {}

  Picoseconds deadline() const { return deadline_; }
  bool is_armed() const { return deadline_ != kNever; }
  void stop() { deadline_ = kNever; }

  void start(Picoseconds now) {
    if (low_ == kNever) return;
    started_ = now;
    deadline_ = now + low_;
  }

  // The deadline has come. Returns false if it was too early, and then waits on.
  bool has_expired(std::uint64_t packets_in_flight, double slowness) {
    const Picoseconds high = started_ + high_;
    if (deadline_ >= high || (packets_in_flight <= packets_ && slowness <= kSlownessMax)) return true;
    deadline_ = high;
    return false;
  }

 private:
  Picoseconds low_;
  Picoseconds high_;
  std::uint64_t packets_;
  Picoseconds started_;
  Picoseconds deadline_ = kNever;
};

// Parameters of IRN and its ablations. Source: Mittal et al., "Revisiting network support for RDMA",
// SIGCOMM 2018, section 4.1; cap_packets: 120 KB in packets of 1 KiB payload, as in irn-vivado-hls;
// threshold_nacks: section 7, which proposes one for networks that reorder, and gives no number.
inline constexpr std::array kIrnParameters = {
    Parameter{"cap_packets", 111, 0, 1 << 22, "packets in flight, at most; 0 = no cap"},
    Parameter{"rto_low_ns", 100'000, 0, 1e12, "timeout while few packets are in flight; 0 = no timeouts"},
    Parameter{"rto_high_ns", 320'000, 0, 1e12, "timeout otherwise"},
    Parameter{"rto_low_packets", 3, 0, 1 << 22, "number of packets in flight that count as few"},
    Parameter{"threshold_nacks", 1, 1, 1 << 22, "NACKs without progress that begin a recovery"},
};

inline void check_timeouts(std::string_view kind, const ParameterValues& values) {
  const auto low = values.find("rto_low_ns");
  const auto high = values.find("rto_high_ns");
  if (low == values.end() || high == values.end() || low->second <= high->second) return;
  throw ParameterError(kind, "rto_low_ns not above rto_high_ns",
                       number_text(low->second) + " and " + number_text(high->second));
}

struct IrnSettings {
  explicit IrnSettings(const ParameterValues& values)
      : cap_packets(static_cast<std::uint64_t>(values.at("cap_packets"))),
        rto_low_ns(static_cast<std::int64_t>(values.at("rto_low_ns"))),
        rto_high_ns(static_cast<std::int64_t>(values.at("rto_high_ns"))),
        rto_low_packets(static_cast<std::uint64_t>(values.at("rto_low_packets"))) {}

  IrnTimer timer() const {
    const Picoseconds low = rto_low_ns == 0 ? kNever : Picoseconds{rto_low_ns * kPicosecondsPerNanosecond};
    return {low, Picoseconds{rto_high_ns * kPicosecondsPerNanosecond}, rto_low_packets};
  }

  std::uint64_t cap() const { return cap_packets == 0 ? kNoWindow : cap_packets; }

  std::uint64_t cap_packets;  // 0 = no cap
  std::int64_t rto_low_ns;
  std::int64_t rto_high_ns;
  std::uint64_t rto_low_packets;
};

// The sending half of IRN: retransmits exactly the packets that negative acknowledgements report missing, and has no
// more packets in flight than the path holds. Source: Mittal et al., "Revisiting network support for RDMA",
// SIGCOMM 2018, sections 3.1 and 3.2; where the text leaves a choice, the authors' hardware model
// irn-vivado-hls.
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
    const bool signals_loss = !is_news && acknowledgement.is_negative && ++nacks_ >= threshold_nacks_;
    if (signals_loss && !is_recovering_ && is_in_flight()) recover();
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

  // As negative acknowledgements report.
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

  // A packet to retransmit has arrived in the meantime.
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

// The receiving half of IRN: keeps what comes early, and acknowledges every packet; one that comes early
// negatively, with its number. Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018,
// section 3.1; the authors' hardware model irn-vivado-hls.
class IrnResponder final : public Responder {
 public:
  // A negative acknowledgement carries one more packet number. Deviation: the paper gives no size.
  static constexpr std::uint32_t kSelectiveBytes = 4;

  std::uint64_t expected() const override { return packets_.expected(); }
  Bytes delivered() const override { return packets_.delivered(); }
  std::uint32_t frame_bytes(const Acknowledgement& acknowledgement, const Framing& framing) const override {
    return framing.ack_frame_bytes + (acknowledgement.is_negative ? kSelectiveBytes : 0);
  }

 protected:
  void on_data(const DataPacket& packet, bool is_marked, Picoseconds) override {
    packets_.add(packet.number, packet.payload_bytes);
    Acknowledgement acknowledgement{
        .expected = packets_.expected(), .echoes_mark = is_marked, .echoed = packet.sent};
    if (packet.number > packets_.expected()) {
      acknowledgement.is_negative = true;
      acknowledgement.add({packet.number, packet.number + 1});
    }
    queue_up(acknowledgement);
  }

 private:
  Reassembly packets_;
};

inline Reliability create_irn(const ParameterValues& values, std::uint32_t mtu_bytes) {
  const auto threshold_nacks = static_cast<std::uint64_t>(values.at("threshold_nacks"));
  return {std::make_unique<IrnRequester>(mtu_bytes, IrnSettings(values), threshold_nacks),
          std::make_unique<IrnResponder>()};
}

inline constexpr ReliabilityKind kIrn{"irn", "IRN: selective repeat, and a cap on packets in flight",
                                      kIrnParameters, "rto_low_ns", create_irn};

}  // namespace simulator
