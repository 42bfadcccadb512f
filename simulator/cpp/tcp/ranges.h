// A set of numbers, kept as ranges that do not touch, each with the bytes that its members stand for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace simulator {

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

}  // namespace simulator
