// An ordinary 4-ary min-heap of small values.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace simulator {

template <class Entry>
class QuaternaryHeap {
 public:
  bool empty() const { return entries_.empty(); }
  const Entry& top() const { return entries_.front(); }

  void push(const Entry& entry) {
    entries_.push_back(entry);
    sift_up(entries_.size() - 1);
  }

  void replace_top(const Entry& entry) { sift_down(entry); }

  void pop() {
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) replace_top(last);
  }

  // Changes or drops entries, then restores the order. `change(entry)` returns false for an entry to drop.
  template <class Change>
  void rebuild(Change&& change) {
    std::erase_if(entries_, [&](Entry& entry) { return !change(entry); });
    for (std::size_t i = 1; i < entries_.size(); ++i) sift_up(i);
  }

 private:
  void sift_up(std::size_t at) {
    const Entry entry = entries_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!(entry < entries_[parent])) break;
      entries_[at] = entries_[parent];
      at = parent;
    }
    entries_[at] = entry;
  }

  // From the top. The entry is passed by value: read back just after it was written in parts, it would stall.
  void sift_down(const Entry entry) {
    std::size_t at = 0;
    const std::size_t count = entries_.size();
    for (std::size_t child = 4 * at + 1; child < count; child = 4 * at + 1) {
      std::size_t smallest = child;
      for (std::size_t other = child + 1; other < child + 4 && other < count; ++other) {
        smallest = entries_[other] < entries_[smallest] ? other : smallest;
      }
      if (!(entries_[smallest] < entry)) break;
      entries_[at] = entries_[smallest];
      at = smallest;
    }
    entries_[at] = entry;
  }

  std::vector<Entry> entries_;
};

}  // namespace simulator
