// The receiving half of a Reliability (protocol/responders.h has the usual go-back-N). A subclass decides what is kept
// and what is acknowledged.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random_stream.h"
#include "base/units.h"
#include "protocol/framing.h"
#include "reliability/acknowledgement.h"
#include "reliability/credits.h"

namespace simulator {

class Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  void on_packet(const DataPacket& packet, bool is_marked, Picoseconds now) {
    ++packets_;
    headers_ += packet.is_trimmed;
    on_data(packet, is_marked, now);
  }

  // Prefetch memory that the next packet needs.
  virtual void prefetch() const {}

  // For acknowledgements that wait: call when `deadline()` has come.
  virtual Picoseconds deadline() const { return kNever; }
  virtual void on_deadline(Picoseconds /*now*/) {}

  virtual std::uint32_t frame_bytes(const Acknowledgement& /*acknowledgement*/,
                                    const Framing& framing) const {
    return framing.ack_frame_bytes;
  }

  // Whether what it says takes the path that it names (`entropy`), where packets are sprayed, or the one way of its
  // connection.
  virtual bool answers_by_path() const { return false; }
  virtual void use_paths(const RandomStream& /*stream*/, std::uint32_t /*paths*/) {}

  virtual std::uint64_t expected() const = 0;                                   // every packet below has come
  virtual Bytes delivered() const = 0;                                          // in order, once
  virtual bool has(std::uint64_t number) const { return number < expected(); }  // this packet has come

  // A packet that came to a queue pair which is not connected (any more).
  void discard(const DataPacket& packet) {
    ++packets_;
    headers_ += packet.is_trimmed;
  }
  std::uint64_t packets() const { return packets_; }
  std::uint64_t headers() const { return headers_; }  // of those, trimmed

  // What it grants to its sender, where senders need credit: ask it after each packet whether it wants a turn, give
  // it one when its host may grant, and have it tell so.
  virtual CreditGrants* grants() { return nullptr; }
  virtual void queue_credit_report() {}

  // Hands over the acknowledgements to send now, in order.
  template <class Send>
  void take_acknowledgements(Send&& send) {
    for (const Acknowledgement& each : acknowledgements_) send(each);
    acknowledgements_.clear();
  }

 protected:
  virtual void on_data(const DataPacket& packet, bool is_marked, Picoseconds now) = 0;
  void queue_up(const Acknowledgement& acknowledgement) { acknowledgements_.push_back(acknowledgement); }

 private:
  std::vector<Acknowledgement> acknowledgements_;
  std::uint64_t packets_ = 0;
  std::uint64_t headers_ = 0;
};

}  // namespace simulator
