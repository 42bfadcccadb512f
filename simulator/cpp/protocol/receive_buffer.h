// The receive buffer of a NIC that takes packets in more slowly than its link brings them, and tells the
// other end to pause. Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.4
// (slow receiver symptom).
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/fault.h"

namespace simulator {

class ReceiveBuffer {
 public:
  explicit ReceiveBuffer(const SlowReceiver& receiver)
      : size_(receiver.size.value),
        xoff_(receiver.xoff.value),
        xon_(receiver.xon.value),
        ps_per_byte_(picoseconds_per_byte(receiver.rate)) {}

  // A frame has come. False if there is no room for it.
  [[nodiscard]] bool takes(Picoseconds now, std::int64_t frame_bytes) {
    drain(now);
    if (level_ + static_cast<double>(frame_bytes) > static_cast<double>(size_)) return false;
    level_ += static_cast<double>(frame_bytes);
    return true;
  }

  bool must_pause() const { return level_ > static_cast<double>(xoff_); }
  bool may_resume(Picoseconds now) {
    drain(now);
    return level_ <= static_cast<double>(xon_);
  }

  // When it may, if nothing else comes.
  Picoseconds resumption(Picoseconds now) {
    drain(now);
    const double above = std::max(0.0, level_ - static_cast<double>(xon_));
    return now + Picoseconds{static_cast<std::int64_t>(above * ps_per_byte_) + 1};
  }

 private:
  void drain(Picoseconds now) {
    level_ = std::max(0.0, level_ - static_cast<double>((now - drained_).value) / ps_per_byte_);
    drained_ = now;
  }

  std::int64_t size_;
  std::int64_t xoff_;
  std::int64_t xon_;
  double ps_per_byte_;
  double level_ = 0;  // bytes
  Picoseconds drained_;
};

}  // namespace simulator
