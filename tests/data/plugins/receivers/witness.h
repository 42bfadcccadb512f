// Ends the simulation with the arguments of one call: the arrival that `call` selects, of all kinds or of one.
#pragma once

#include <rogue/receiver_control.h>

#include <cstdint>
#include <sstream>

class Witness final : public rogue::ReceiverControl {
 public:
  Witness(const rogue::Parameters& parameters, const rogue::Host& host)
      : call_(parameters.whole("call")), only_(parameters.whole("only")), host_(host) {
    if (call_ == 0) rogue::fail(place());
  }

  void on_arrival(const rogue::Received& packet) override {
    if (!is_wanted(packet) || ++calls_ != call_) return;
    std::ostringstream told;
    told << "now " << packet.now_ps << " asked " << packet.asked_bytes << " granted " << packet.granted_bytes
         << " ahead " << packet.ahead_packets << " connection " << packet.connection << " payload "
         << packet.payload_bytes << " trimmed " << +packet.is_trimmed << " marked " << +packet.is_marked
         << " duplicate " << +packet.is_duplicate << " request " << +packet.is_request;
    rogue::fail(told.str());
  }
  std::int64_t next_turn_ps() const override { return rogue::kNever; }
  rogue::Grant on_turn(std::int64_t) override { return {}; }

 private:
  bool is_wanted(const rogue::Received& packet) const {
    const bool kinds[] = {true,
                          packet.is_trimmed != 0,
                          packet.is_marked != 0,
                          packet.is_duplicate != 0,
                          packet.is_request != 0,
                          packet.ahead_packets > 0};
    return kinds[only_];
  }
  std::string place() const {
    std::ostringstream told;
    told << "rate " << host_.rate_bps << " rtt " << host_.base_rtt_ps << " mtu " << host_.mtu_bytes
         << " header " << host_.header_bytes << " most " << host_.credit_max_bytes;
    return told.str();
  }

  std::int64_t call_;
  std::int64_t only_;
  std::int64_t calls_ = 0;
  rogue::Host host_;
};

ROGUE_RECEIVER_CONTROL(Witness, "witness_grants", "it tells what it is told",
                       {"call", 1, 0, 1e9, "the arrival that it tells; 0: its host"},
                       {"only", 0, 0, 5,
                        "of arrivals: 0 all, 1 trimmed, 2 marked, 3 duplicates, 4 requests, 5 ahead"});
