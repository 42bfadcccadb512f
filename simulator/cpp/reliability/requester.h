// The sending half of a Reliability (protocol/rc_requester.h has the usual go-back-N). It does no I/O and keeps no
// clock: an engine asks for the next packet, reports departures and acknowledgements, and wakes it at `deadline()`. A
// subclass decides which packet goes next, and when none may.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "base/containers.h"
#include "base/random_stream.h"
#include "base/units.h"
#include "protocol/framing.h"
#include "protocol/queue_pair.h"
#include "reliability/acknowledgement.h"
#include "reliability/credits.h"

namespace simulator {

class Requester {
 public:
  explicit Requester(std::uint32_t mtu_bytes) : mtu_bytes_(mtu_bytes) {}
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;
  virtual ~Requester() = default;

  virtual bool has_packet() const = 0;

  // Prefetch memory that it points to and will need soon.
  virtual void prefetch() const {}

  // An acknowledgement. Returns false if the connection has failed: then call fail().
  [[nodiscard]] virtual bool on_acknowledgement(const Acknowledgement& acknowledgement, Picoseconds now) = 0;

  // Call when `deadline()` has come. `slowness` is the line rate over the rate that the limiter allows.
  virtual Picoseconds deadline() const = 0;
  [[nodiscard]] virtual bool on_deadline(Picoseconds now, double slowness) = 0;

  virtual std::uint32_t frame_bytes(const DataPacket& packet, const Framing& framing) const {
    return framing.write_frame_bytes(packet.payload_bytes, packet.is_first);
  }

  // Whether it chooses the entropies of its packets by itself, and the next one: asked once for each that leaves.
  virtual bool chooses_paths() const { return false; }
  virtual void use_paths(const RandomStream& /*stream*/, std::uint32_t /*paths*/) {}
  virtual std::uint32_t next_path() { return 0; }

  // What a receiver has granted, where one must (reliability/credits.h), and the low bits of what is asked
  // for; the latter after on_sent(), for the packet that was sent. `rivals` queue pairs have packets in its NIC.
  virtual const CreditAccount* account() const { return nullptr; }
  virtual std::uint32_t credit_target(std::int64_t /*rivals*/) const { return 0; }

  // Adds a WRITE; the numbers and sizes of its packets follow from it.
  void post(Verb verb) {
    const std::int64_t packets = std::max<std::int64_t>(1, (verb.length.value + mtu_bytes_ - 1) / mtu_bytes_);
    verb.first_psn = posted_;
    verb.last_psn = posted_ + static_cast<std::uint64_t>(packets) - 1;
    verb.last_payload_bytes = static_cast<std::uint32_t>(verb.length.value - (packets - 1) * mtu_bytes_);
    verbs_.push(verb);
    posted_ = verb.last_psn + 1;
    posted_bytes_ += verb.length;
    on_posted();
  }

  // The packet to send next; the same until something happens.
  DataPacket next() const {
    if (wants_request_) [[unlikely]]
      return request();
    const std::uint64_t number = next_number();
    const PacketsOfVerb& verb = packets_of_verb_with(number);
    return {.number = number,
            .payload_bytes = static_cast<std::uint16_t>(payload_bytes_of(number)),
            .is_first = number == verb.first,
            .is_last = number == verb.last,
            .has_reduced = has_reduced(),
            .is_ecn_capable = is_ecn_capable(),
            .wants_acknowledgement = wants_acknowledgement(),
            .is_trimmable = is_trimmable(),
            .message = verb.length,
            .sent = {}};
  }

  // That packet's last byte left the NIC at `end`.
  void on_sent(const DataPacket& packet, Picoseconds end) {
    ++sent_packets_;
    if (packet.is_request) [[unlikely]]
      return on_request_sent(end);
    const bool is_new = packet.number == sent_;
    if (is_new) {
      ++sent_;
      if (packet.is_last) verbs_[verb_of(packet.number)].left_nic = end;
    } else {
      counters_.retransmitted_bytes.value += packet.payload_bytes;
      ++counters_.retransmitted_packets;
    }
    on_packet_sent(packet.number, is_new, end);
  }

  // Hands over the verbs that are done, in order.
  template <class OnDone>
  void take_done(OnDone&& on_done) {
    for (; !verbs_.empty() && verbs_.front().last_psn < acknowledged_; verbs_.pop()) on_done(verbs_.front());
  }

  // The queue pair goes to its error state: the oldest verb gets the reason, the others are flushed. Ask for
  // no packet afterwards.
  template <class OnFailed>
  void fail(OnFailed&& on_failed) {
    VerbStatus status = VerbStatus::kRetryExceeded;
    for (; !verbs_.empty(); verbs_.pop()) {
      on_failed(verbs_.front(), status);
      status = VerbStatus::kFlushed;
    }
  }

  // State by name with unit, for people and tests.
  virtual std::map<std::string, double> metrics() const { return {}; }

  bool is_idle() const { return verbs_.empty(); }
  bool has_ever_posted() const { return verbs_.tail() != 0; }
  std::uint64_t sent_packets() const { return sent_packets_; }
  std::uint64_t sent() const { return sent_; }  // one past the highest number ever sent
  Bytes posted_bytes() const { return posted_bytes_; }
  const RequesterCounters& counters() const { return counters_; }
  std::uint64_t recoveries() const { return recoveries_; }  // begun because of what came back
  // Packets that may be in flight, besides what the subclass allows.
  void set_window(std::uint64_t packets) { window_packets_ = packets; }
  std::uint64_t window_packets() const { return window_packets_; }

  std::uint64_t acknowledged() const { return acknowledged_; }  // every packet below has come
  Picoseconds left_nic(std::uint64_t wr_id) const {
    for (std::uint64_t nth = verbs_.head(); nth != verbs_.tail(); ++nth) {
      if (verbs_[nth].wr_id == wr_id) return verbs_[nth].left_nic;
    }
    return kNever;
  }

 protected:
  virtual std::uint64_t next_number() const = 0;
  virtual void on_packet_sent(std::uint64_t number, bool is_new, Picoseconds end) = 0;
  virtual void on_posted() {}
  virtual bool has_reduced() const { return false; }            // of the next packet
  virtual bool is_ecn_capable() const { return true; }          // of every packet
  virtual bool wants_acknowledgement() const { return false; }  // of the next packet
  virtual bool is_trimmable() const { return false; }           // of every packet
  virtual void on_request_sent(Picoseconds /*end*/) {}

  std::uint64_t posted() const { return posted_; }  // one past the last posted
  std::uint32_t mtu_bytes() const { return mtu_bytes_; }

  std::uint32_t payload_bytes_of(std::uint64_t number) const {
    const PacketsOfVerb& verb = packets_of_verb_with(number);
    return number == verb.last ? verb.last_payload_bytes : mtu_bytes_;
  }

  // Everything below has come. Returns whether that is news.
  bool acknowledge_below(std::uint64_t number) {
    if (number <= acknowledged_ || number > sent_) return false;
    acknowledged_ = number;
    return true;
  }

  RequesterCounters counters_;
  std::uint64_t recoveries_ = 0;
  bool wants_request_ = false;  // for credit, before the next packet

 private:
  // Fields of its verb that a packet carries.
  struct PacketsOfVerb {
    std::uint64_t first = 1;
    std::uint64_t last = 0;  // below the first: of none
    Bytes length{};
    std::uint32_t last_payload_bytes = 0;
  };

  // The verb that a packet belongs to. Mostly it is the verb of the previous packet, which needs no lookup.
  const PacketsOfVerb& packets_of_verb_with(std::uint64_t number) const {
    if (number < last_verb_.first || number > last_verb_.last) {
      const Verb& verb = verbs_[verb_of(number)];
      last_verb_ = {verb.first_psn, verb.last_psn, verb.length, verb.last_payload_bytes};
    }
    return last_verb_;
  }

  // It has the number of the oldest packet that is not acknowledged, and none of its bytes.
  DataPacket request() const {
    return {.number = acknowledged_,
            .is_ecn_capable = is_ecn_capable(),
            .wants_acknowledgement = true,
            .is_request = true,
            .sent = {}};
  }

  // Running number of the verb that a packet belongs to.
  std::uint64_t verb_of(std::uint64_t number) const {
    std::uint64_t low = verbs_.head();
    std::uint64_t high = verbs_.tail() - 1;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (verbs_[middle].last_psn < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  std::uint32_t mtu_bytes_;
  std::uint64_t posted_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t sent_packets_ = 0;
  std::uint64_t window_packets_ = kNoWindow;
  mutable PacketsOfVerb last_verb_;
  VerbRing verbs_;
  Bytes posted_bytes_;
};

}  // namespace simulator
