// Ranges of bytes, and the scoreboard of selective acknowledgements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/containers.h"
#include "base/units.h"
#include "reliability/acknowledgement.h"

namespace simulator {

// A set of numbers, kept as ranges that do not touch, each with the bytes that its members stand for.
class NumberRanges {
 public:
  struct Piece {
    std::uint64_t first;
    std::uint64_t end;  // one past the last
    std::int64_t bytes;
  };

  bool empty() const { return pieces_.empty(); }

  // The range that has this number, or null.
  const Piece* find(std::uint64_t number) const {
    const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), number,
                                       [](std::uint64_t n, const Piece& piece) { return n < piece.first; });
    if (next == pieces_.begin() || std::prev(next)->end <= number) return nullptr;
    return &*std::prev(next);
  }

  // Adds the numbers from `first` to before `end`. `bytes_of(number)` is called for each that is new.
  template <class BytesOf>
  void add(std::uint64_t first, std::uint64_t end, BytesOf&& bytes_of) {
    if (first >= end) return;
    const auto begin = std::lower_bound(pieces_.begin(), pieces_.end(), first,
                                        [](const Piece& piece, std::uint64_t n) { return piece.end < n; });
    Piece merged{first, end, 0};
    std::uint64_t next = first;
    auto piece = begin;
    for (; piece != pieces_.end() && piece->first <= end; ++piece) {
      for (; next < piece->first; ++next) merged.bytes += bytes_of(next);
      next = std::max(next, piece->end);
      merged.bytes += piece->bytes;
      merged.first = std::min(merged.first, piece->first);
      merged.end = std::max(merged.end, piece->end);
    }
    for (; next < end; ++next) merged.bytes += bytes_of(next);
    if (begin == piece) {
      pieces_.insert(begin, merged);
    } else {
      *begin = merged;
      pieces_.erase(std::next(begin), piece);
    }
  }

  // Takes the lowest range off if it begins with this number; else the result is empty.
  Piece take(std::uint64_t first) {
    if (pieces_.empty() || pieces_.front().first != first) return {first, first, 0};
    const Piece taken = pieces_.front();
    pieces_.erase(pieces_.begin());
    return taken;
  }

  // Forgets ranges that lie below as a whole.
  void forget_below(std::uint64_t number) {
    std::size_t count = 0;
    while (count < pieces_.size() && pieces_[count].end <= number) ++count;
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(count));
  }

 private:
  std::vector<Piece> pieces_;  // ascending
};

// What a TCP sender knows about the segments that are not yet acknowledged by the number, and what it takes to
// be in flight. Source: RFC 6675, sections 3 and 4 (IsLost, SetPipe, NextSeg).
struct SentSegment {
  Picoseconds sent;  // its last byte, the last time
  std::uint32_t payload_bytes = 0;
  bool is_selected = false;  // acknowledged by a SACK block
  bool is_lost = false;      // taken for lost
  bool is_resent = false;    // in flight once more
  bool was_resent = false;   // so that an acknowledgement gives no round-trip sample
};

class Scoreboard {
 public:
  static constexpr std::uint32_t kDuplicatesMax = 3;  // DupThresh. Source: RFC 5681, section 3.2

  struct Acknowledged {
    Bytes bytes;
    std::uint64_t segments = 0;
    Picoseconds sent = kNever;  // the newest one that gives a round-trip sample. Source: RFC 6298, section 3
  };

  explicit Scoreboard(std::uint32_t segment_bytes) : segment_bytes_(segment_bytes) {}

  std::uint64_t first() const { return first_; }  // not acknowledged
  std::uint64_t end() const { return end_; }      // one past the last one sent
  bool empty() const { return first_ == end_; }
  Bytes in_flight() const { return in_flight_; }      // pipe
  Bytes outstanding() const { return outstanding_; }  // FlightSize
  const SentSegment& operator[](std::uint64_t number) const { return slots_[number]; }

  void push(std::uint32_t payload_bytes, Picoseconds sent) {
    slots_.make_room(first_, end_);
    slots_[end_++] = {.sent = sent, .payload_bytes = payload_bytes};
    in_flight_.value += payload_bytes;
    outstanding_.value += payload_bytes;
  }

  // The search for the next one to repeat moves on, but not for a rescue.
  void resend(std::uint64_t number, Picoseconds sent, bool moves_search) {
    if (moves_search) search_from_ = std::max(search_from_, number + 1);
    change(number, [&](SentSegment& segment) {
      segment.is_resent = segment.was_resent = true;
      segment.sent = sent;
    });
  }

  // Everything below `next` has come.
  Acknowledged acknowledge(std::uint64_t next) {
    Acknowledged result;
    for (; first_ < std::min(next, end_); ++first_) {
      const SentSegment& segment = slots_[first_];
      result.bytes.value += segment.payload_bytes;
      ++result.segments;
      if (!segment.was_resent && !segment.is_selected) result.sent = segment.sent;
      in_flight_ -= share(segment);
      outstanding_.value -= segment.payload_bytes;
    }
    selected_.forget_below(first_);
    search_from_ = std::max(search_from_, first_);
    lost_below_ = std::max(lost_below_, first_);
    return result;
  }

  // Returns whether the block has news.
  bool select(const NumberRange& block) {
    bool has_news = false;
    const std::uint64_t end = std::min(block.end, end_);
    selected_.add(std::max(block.first, first_), end, [&](std::uint64_t number) {
      has_news = true;
      change(number, [](SentSegment& segment) { segment.is_selected = true; });
      return 0;
    });
    selected_below_ = std::max(selected_below_, end);
    return has_news;
  }

  // A segment is lost if blocks cover more than two full segments above it, or three separate pieces.
  void find_losses() {
    std::int64_t above_bytes = 0;
    std::uint32_t pieces = 0;
    bool was_selected = false;
    std::uint64_t number = selected_below_;
    while (number > lost_below_) {
      const SentSegment& segment = slots_[--number];
      if (segment.is_selected) {
        above_bytes += segment.payload_bytes;
        pieces += was_selected ? 0 : 1;
      }
      was_selected = segment.is_selected;
      if (pieces < kDuplicatesMax && above_bytes <= std::int64_t{kDuplicatesMax - 1} * segment_bytes_)
        continue;
      return lose_below(number);
    }
  }

  void lose_first() { lose_below(std::max(lost_below_, first_ + 1)); }

  // After a timeout nothing counts as being in flight, and everything that no block covers is sent again.
  // The receiver never forgets what a block said. Source: RFC 6675, section 5.1.
  void lose_all() {
    for (std::uint64_t number = first_; number < end_; ++number) {
      change(number, [](SentSegment& segment) {
        segment.is_lost = !segment.is_selected;
        segment.is_resent = false;
      });
    }
    lost_below_ = end_;
    search_from_ = first_;
  }

  bool is_first_lost() const { return !empty() && (*this)[first_].is_lost && !(*this)[first_].is_selected; }

  // Rule 1: the lowest one that is lost and not in flight again.
  std::optional<std::uint64_t> lost() {
    for (; search_from_ < lost_below_; ++search_from_) {
      if (waits(search_from_)) return search_from_;
    }
    return {};
  }

  // Rule 3: the lowest one of which it is not certain that it is lost.
  std::optional<std::uint64_t> doubtful() const {
    for (std::uint64_t number = std::max(search_from_, lost_below_); number < selected_below_; ++number) {
      if (waits(number)) return number;
    }
    return {};
  }

  // Rule 4: the last one.
  std::optional<std::uint64_t> last() const {
    for (std::uint64_t number = end_; number > first_; --number) {
      if (waits(number - 1)) return number - 1;
      if (!(*this)[number - 1].is_selected) return {};
    }
    return {};
  }

 private:
  bool waits(std::uint64_t number) const {
    const SentSegment& segment = (*this)[number];
    return !segment.is_selected && !segment.is_resent;
  }

  // Number of times a segment counts as in flight.
  static Bytes share(const SentSegment& segment) {
    if (segment.is_selected) return {};
    return {std::int64_t{segment.payload_bytes} * ((segment.is_lost ? 0 : 1) + (segment.is_resent ? 1 : 0))};
  }

  template <class Change>
  void change(std::uint64_t number, Change&& change) {
    SentSegment& segment = slots_[number];
    in_flight_ -= share(segment);
    change(segment);
    in_flight_ += share(segment);
  }

  void lose_below(std::uint64_t end) {
    for (std::uint64_t number = lost_below_; number < end; ++number) {
      change(number, [](SentSegment& segment) { segment.is_lost = !segment.is_selected; });
    }
    lost_below_ = std::max(lost_below_, end);
  }

  NumberedSlots<SentSegment, 16> slots_;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  NumberRanges selected_;             // that blocks cover
  std::uint64_t selected_below_ = 0;  // no block covers anything from there on
  std::uint64_t lost_below_ = 0;      // what lies below and is covered by no block is lost
  std::uint64_t search_from_ = 0;     // one past the highest one sent again (HighRxt)
  std::uint32_t segment_bytes_;
  Bytes in_flight_;
  Bytes outstanding_;
};

}  // namespace simulator
