// How much a sender of Ultra Ethernet may have in flight, in bytes of frames, and what changes it. It keeps no clock.
#pragma once

#include <optional>

#include "base/units.h"

namespace simulator {

class SendWindow {
 public:
  SendWindow() = default;
  SendWindow(const SendWindow&) = delete;
  SendWindow& operator=(const SendWindow&) = delete;
  virtual ~SendWindow() = default;

  virtual Bytes window() const = 0;
  virtual Picoseconds base_rtt() const = 0;
  virtual double average_delay_ps() const { return 0; }

  // `received` bytes are known to have come since the last acknowledgement; this one answers a packet that left
  // `rtt` ago, if that says anything. `in_flight` is what is left of the window.
  virtual void on_acknowledged(Bytes received, std::optional<Picoseconds> rtt, bool is_marked,
                               Bytes in_flight, Picoseconds now) = 0;
  // The payload of a packet of `frame` bytes was cut off on its way. Left to credits: in front of a receiver that grants
  // them, and so mends that queue itself.
  virtual void on_trimmed(Bytes frame, Picoseconds rtt, bool is_left_to_credits, Bytes in_flight,
                          Picoseconds now) = 0;
  // Nothing was heard of a packet.
  virtual void on_timeout(Bytes frame) = 0;
};

}  // namespace simulator
