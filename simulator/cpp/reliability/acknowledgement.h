// Data packets and acknowledgements of a connection with selectable loss recovery.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"

namespace simulator {

// A packet with bytes of a verb. Packets of a connection are numbered from 0 on, in posting order.
struct DataPacket {
  static constexpr std::uint32_t kCreditTargetMask = (std::uint32_t{1} << 23) - 1;

  std::uint64_t number = 0;
  std::uint16_t payload_bytes = 0;
  std::uint16_t entropy = 0;  // that chose its path
  bool is_first : 1 = false;  // of its verb
  bool is_last : 1 = false;
  bool has_reduced : 1 = false;            // its sender has taken notice of marks (CWR)
  bool is_ecn_capable : 1 = true;          // switches may mark it
  bool wants_acknowledgement : 1 = false;  // at once
  bool is_trimmable : 1 = false;           // switches may cut its payload off
  bool is_trimmed : 1 = false;             // a switch has cut it
  bool is_trimmed_last : 1 = false;        // the last switch before the receiver did
  bool is_request : 1 = false;             // for credit: it has no bytes of a verb
  std::uint32_t credit_target : 23 = 0;    // low bits of CreditAccount::target(), a running total of quanta
  Bytes message{};                         // length of its verb
  Picoseconds sent;                        // it began to leave then

  void request_credit(std::uint32_t target) { credit_target = target & kCreditTargetMask; }
  bool can_be_trimmed() const { return is_trimmable && !is_trimmed; }

  // Cuts the payload off. Returns false if that is not allowed, or done.
  bool trim(bool is_last_hop) {
    if (!can_be_trimmed()) return false;
    is_trimmed = true;
    is_trimmed_last = is_last_hop;
    return true;
  }
};
static_assert(sizeof(DataPacket) == 32);

struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  // one past the last
};

// Received packets beyond the first missing one, as bits.
struct SelectiveBitmap {
  std::uint64_t first = 0;     // number of the packet that bit 0 is about
  std::uint64_t bits = 0;      // set: that packet has come
  std::uint64_t answered = 0;  // number of the packet that is answered
  Bytes received{};            // frames that have come so far, each once
};

struct Acknowledgement {
  static constexpr std::uint32_t kRangesMax = 3;

  // What `selective` holds.
  enum class Content : std::uint8_t {
    kRanges,
    kBitmap,
    kCredit,  // and the acknowledgement has no other content
  };

  std::uint64_t expected = 0;                       // every packet below has come
  std::array<NumberRange, kRangesMax> selective{};  // these have come too, if they are ranges
  std::uint32_t ranges = 0;                         // number of ranges in `selective`
  bool is_negative : 1 = false;
  bool echoes_mark : 1 = false;      // of congestion
  bool is_trimmed_last : 1 = false;  // of the packet that is answered
  bool is_of_request : 1 = false;    // for credit, instead of a packet
  Content content = Content::kRanges;
  std::uint16_t entropy = 0;  // of that packet
  Picoseconds echoed;         // `sent` of that packet

  void add(const NumberRange& range) { selective[ranges++] = range; }

  // Shares memory with the ranges, so that no packet grows for one transport.
  void set_bitmap(const SelectiveBitmap& come) {
    selective[0] = {come.first, come.bits};
    selective[1] = {come.answered, static_cast<std::uint64_t>(come.received.value)};
    content = Content::kBitmap;
  }
  void set_credit(std::int64_t granted) {
    selective[0].first = static_cast<std::uint64_t>(granted);
    content = Content::kCredit;
  }
  bool is_credit() const { return content == Content::kCredit; }
  std::int64_t granted() const { return static_cast<std::int64_t>(selective[0].first); }  // quanta
  SelectiveBitmap bitmap() const {
    return {selective[0].first,
            selective[0].end,
            selective[1].first,
            {static_cast<std::int64_t>(selective[1].end)}};
  }
};
static_assert(sizeof(Acknowledgement) == 72);

}  // namespace simulator
