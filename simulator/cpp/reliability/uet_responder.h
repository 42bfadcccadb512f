// The receiver of Ultra Ethernet's transport, and the reassembly of its messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/containers.h"
#include "base/units.h"
#include "protocol/path_hash.h"
#include "reliability/acknowledgement.h"
#include "reliability/responder.h"
#include "reliability/uet_settings.h"

namespace simulator {

// Puts packets back in order: what has come beyond the first one that is missing is kept.
class Reassembly {
 public:
  enum class Arrival : std::uint8_t { kInOrder, kAhead, kDuplicate };

  Arrival add(std::uint64_t number, std::uint32_t payload_bytes) {
    if (number < expected_ || has(number)) return Arrival::kDuplicate;
    slots_.make_room(expected_, number);
    if (end_ <= number) end_ = number + 1;
    slots_[number] = payload_bytes + 1;
    if (number != expected_) return Arrival::kAhead;
    for (; expected_ != end_ && slots_[expected_] != 0; ++expected_) {
      delivered_.value += slots_[expected_] - 1;
      slots_[expected_] = 0;
    }
    return Arrival::kInOrder;
  }

  // Prefetch memory that the next packet needs.
  void prefetch() const {
    if (slots_.empty()) return;
    __builtin_prefetch(&slots_[expected_]);
    __builtin_prefetch(&slots_[end_]);
  }

  std::uint64_t expected() const { return expected_; }
  Bytes delivered() const { return delivered_; }

  // Something is here that waits for a packet before it.
  bool has_waiting() const { return end_ > expected_; }

  // The packet is here, and waits for one before it.
  bool has(std::uint64_t number) const { return number >= expected_ && number < end_ && slots_[number] != 0; }

 private:
  std::uint64_t expected_ = 0;
  std::uint64_t end_ = 0;                   // one past the highest that has come
  NumberedSlots<std::uint32_t, 64> slots_;  // 1 + payload of each packet that waits, else 0
  Bytes delivered_;
};

// The receiving half of the Ultra Ethernet transport: takes packets in any order, and acknowledges many at once
// with a bitmap. What comes marked, or wants it, is answered at once; what comes without its payload, negatively.
// Source: Ultra Ethernet specification 1.0, packet delivery (selective acknowledgement); uet-htsim's uec.cpp
// (UecSink::processData, processTrimmed, sackBitmapBase).
class UetResponder final : public Responder {
 public:
  static constexpr std::uint64_t kBits = 64;

  explicit UetResponder(const UetSettings& settings)
      : header_(settings.header), sack_every_(settings.sack_every) {
    if (settings.has_credits) grants_.emplace(grants_of(settings));
  }

  std::uint64_t expected() const override { return packets_.expected(); }
  Bytes delivered() const override { return packets_.delivered(); }
  bool has(std::uint64_t number) const override {
    return number < packets_.expected() || packets_.has(number);
  }

  // An acknowledgement takes the path of the packet that it answers, credit each path in turn. Source: uet-htsim's
  // uec.cpp (UecSink::sack, nack: path_id; UecSink::pull: nextEntropy).
  bool answers_by_path() const override { return true; }
  void use_paths(const RandomStream& stream, std::uint32_t paths) override {
    credit_paths_.emplace(stream, paths);
  }

  CreditGrants* grants() override { return grants_ ? &*grants_ : nullptr; }
  void queue_credit_report() override {
    Acknowledgement credit{.expected = packets_.expected(), .echoed = {}};
    credit.set_credit(grants_->granted());
    if (credit_paths_) credit.entropy = static_cast<std::uint16_t>(credit_paths_->next());
    queue_up(credit);
  }

  void prefetch() const override { packets_.prefetch(); }

 protected:
  void on_data(const DataPacket& packet, bool is_marked, Picoseconds) override {
    if (grants_) grants_->on_target(packet.credit_target);
    if (packet.is_request) return on_request(packet);
    if (packet.is_trimmed) return on_trimmed(packet, is_marked);
    const bool is_first_of_all = received_.value == 0;
    if (packets_.add(packet.number, packet.payload_bytes) == Reassembly::Arrival::kDuplicate)
      return acknowledge(packet, is_marked, is_marked);
    const Bytes frame = Bytes{packet.payload_bytes} + header_;
    received_ += frame;
    unreported_ += frame;
    if (packet.wants_acknowledgement) is_requested_ = true;
    const bool is_gapless = !packets_.has_waiting();
    const bool must_tell = is_first_of_all || (is_gapless && is_requested_);
    if (is_gapless) is_requested_ = false;
    const bool is_requested = is_marked || packet.wants_acknowledgement;
    if (is_requested || must_tell || unreported_ >= sack_every_) acknowledge(packet, is_marked, is_requested);
  }

 private:
  static CreditGrants grants_of(const UetSettings& settings) {
    const std::int64_t each = settings.credit_packets * settings.payload.value / kCreditQuantum;
    const std::int64_t ahead = settings.credit_max().value / kCreditQuantum;
    return {std::max<std::int64_t>(1, each), ahead, settings.credit_rate};
  }

  // Its sender waits for credit, or has lost the last grant.
  void on_request(const DataPacket& packet) {
    if (grants_) grants_->request_turn();
    Acknowledgement reply = reply_to(packet, false, packet.number);
    reply.is_of_request = true;
    queue_up(reply);
  }

  void on_trimmed(const DataPacket& packet, bool is_marked) {
    if (has(packet.number)) return queue_up(reply_to(packet, false, base_for(packet.number)));
    if (grants_) grants_->request_turn();
    Acknowledgement reply = reply_to(packet, is_marked, base_for(packet.number));
    reply.is_negative = true;
    reply.is_trimmed_last = packet.is_trimmed_last;
    queue_up(reply);
  }

  // A duplicate needs no acknowledgement, unless it is marked.
  void acknowledge(const DataPacket& packet, bool is_marked, bool is_requested) {
    unreported_ = {};
    queue_up(reply_to(packet, is_marked, is_requested ? packet.number : base_for(packet.number)));
  }

  // With the bits from `first` on.
  Acknowledgement reply_to(const DataPacket& packet, bool is_marked, std::uint64_t first) const {
    Acknowledgement reply{.expected = packets_.expected(),
                          .echoes_mark = is_marked,
                          .entropy = packet.entropy,
                          .echoed = packet.sent};
    SelectiveBitmap come = bitmap_from(first);
    come.answered = packet.number;
    come.received = received_;
    reply.set_bitmap(come);
    return reply;
  }

  // So that the packet is the last bit, if there is enough before it.
  std::uint64_t base_for(std::uint64_t number) const {
    const std::uint64_t below = number - std::min(number, kBits - 1);
    return std::max(below, packets_.expected() + 1);
  }

  SelectiveBitmap bitmap_from(std::uint64_t first) const {
    SelectiveBitmap bitmap{.first = first};
    if (!packets_.has_waiting()) return bitmap;
    for (std::uint64_t bit = 0; bit < kBits; ++bit) {
      if (packets_.has(first + bit)) bitmap.bits |= std::uint64_t{1} << bit;
    }
    return bitmap;
  }

  Bytes header_;
  Bytes sack_every_;
  Reassembly packets_;
  Bytes received_;             // frames, each once
  Bytes unreported_;           // since the last acknowledgement
  bool is_requested_ = false;  // for one more, as soon as nothing is missing
  std::optional<CreditGrants> grants_;
  std::optional<ObliviousSpray> credit_paths_;
};

}  // namespace simulator
