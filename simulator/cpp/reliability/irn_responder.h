// The receiving half of IRN: keeps what comes early, and acknowledges every packet; one that comes early
// negatively, with its number. Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018,
// section 3.1; the authors' hardware model irn-vivado-hls.
#pragma once

#include "reliability/reassembly.h"
#include "reliability/responder.h"

namespace simulator {

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

}  // namespace simulator
