// The receiving half of a connection that repairs losses in a way of its own (protocol/rc_responder.h has the
// usual one). A subclass decides what is kept and what is answered.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "protocol/framing.h"
#include "reliability/acknowledgement.h"

namespace simulator {

class Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  void on_packet(const DataPacket& packet, bool is_marked, Picoseconds now) {
    ++packets_;
    on_data(packet, is_marked, now);
  }

  // For answers that wait: call when `deadline()` has come.
  virtual Picoseconds deadline() const { return kNever; }
  virtual void on_deadline(Picoseconds /*now*/) {}

  virtual std::uint32_t frame_bytes(const Acknowledgement& /*answer*/, const Framing& framing) const {
    return framing.ack_frame_bytes;
  }

  virtual std::uint64_t expected() const = 0;  // every packet below has come
  virtual Bytes delivered() const = 0;         // in order, once

  // A packet that came to a queue pair which is not connected (any more).
  void discard() { ++packets_; }
  std::uint64_t packets() const { return packets_; }

  // Hands over the answers to send now, in order.
  template <class Send>
  void take_answers(Send&& send) {
    for (const Acknowledgement& answer : answers_) send(answer);
    answers_.clear();
  }

 protected:
  virtual void on_data(const DataPacket& packet, bool is_marked, Picoseconds now) = 0;
  void answer(const Acknowledgement& answer) { answers_.push_back(answer); }

 private:
  std::vector<Acknowledgement> answers_;
  std::uint64_t packets_ = 0;
};

}  // namespace simulator
