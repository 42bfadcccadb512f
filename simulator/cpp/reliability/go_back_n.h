// Go-back-N with IRN's cap and timer, which IRN is compared with: what comes early is refused, once per gap,
// and everything from the gap on is sent again. Source: Mittal et al., "Revisiting network support for RDMA",
// SIGCOMM 2018, section 4.3.
#pragma once

#include <algorithm>

#include "reliability/irn_settings.h"
#include "reliability/irn_timer.h"
#include "reliability/requester.h"
#include "reliability/responder.h"

namespace simulator {

class GoBackNResponder final : public Responder {
 public:
  std::uint64_t expected() const override { return expected_; }
  Bytes delivered() const override { return delivered_; }

 protected:
  void on_data(const DataPacket& packet, bool is_marked, Picoseconds) override {
    const bool is_early = packet.number > expected_;
    if (is_early && is_gap_told_) return;
    if (is_early) is_gap_told_ = true;
    if (packet.number == expected_) {
      ++expected_;
      delivered_.value += packet.payload_bytes;
      is_gap_told_ = false;
    }
    answer(
        {.expected = expected_, .is_negative = is_early, .echoes_mark = is_marked, .echoed = packet.sent});
  }

 private:
  std::uint64_t expected_ = 0;
  Bytes delivered_;
  bool is_gap_told_ = false;
};

class GoBackNRequester final : public Requester {
 public:
  GoBackNRequester(std::uint32_t mtu_bytes, const IrnSettings& settings)
      : Requester(mtu_bytes), cap_packets_(settings.cap_packets), timer_(settings.timer()) {}

  bool has_packet() const override {
    return next_ < posted() && (cap_packets_ == 0 || packets_in_flight() < cap_packets_);
  }

  bool on_acknowledgement(const Acknowledgement& reply, Picoseconds now) override {
    if (acknowledge_below(reply.expected)) {
      next_ = std::max(next_, acknowledged());
      if (acknowledged() < sent()) {
        timer_.start(now);
      } else {
        timer_.stop();
      }
    }
    if (!reply.is_negative || reply.expected != acknowledged()) return true;
    ++counters_.naks;
    next_ = acknowledged();
    return true;
  }

  Picoseconds deadline() const override { return timer_.deadline(); }

  bool on_deadline(Picoseconds now, double slowness) override {
    if (!timer_.has_expired(packets_in_flight(), slowness)) return true;
    ++counters_.timeouts;
    next_ = acknowledged();
    timer_.start(now);
    return true;
  }

 protected:
  std::uint64_t next_number() const override { return next_; }

  void on_packet_sent(std::uint64_t number, bool /*is_new*/, Picoseconds end) override {
    if (!timer_.is_armed()) timer_.start(end);
    next_ = number + 1;
  }

 private:
  std::uint64_t packets_in_flight() const { return next_ - acknowledged(); }

  std::uint64_t cap_packets_;  // 0 = no cap
  std::uint64_t next_ = 0;
  IrnTimer timer_;
};

}  // namespace simulator
