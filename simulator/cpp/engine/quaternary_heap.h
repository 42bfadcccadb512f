// An ordinary 4-ary min-heap of small values.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace simulator {

template <class Entry>
class QuaternaryHeap {
 public:
  std::size_t size() const { return entries_.size(); }
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

  // From the top, where `entry` takes the place of what was there.
  void sift_down(const Entry entry) {
    std::size_t at = 0;
    const std::size_t count = entries_.size();
    for (std::size_t child = 4 * at + 1; child < count; child = 4 * at + 1) {
      const std::size_t smallest = child + 4 <= count ? smallest_of_four(child) : smallest_from(child);
      if (!(entries_[smallest] < entry)) break;
      entries_[at] = entries_[smallest];
      at = smallest;
    }
    entries_[at] = entry;
  }

  std::size_t smallest_of_four(std::size_t first) const {
    return smaller(smaller(first, first + 1), smaller(first + 2, first + 3));
  }

  std::size_t smallest_from(std::size_t first) const {
    std::size_t smallest = first;
    for (std::size_t at = first + 1; at < entries_.size(); ++at) smallest = smaller(smallest, at);
    return smallest;
  }

  // Which one is smaller cannot be predicted: an addition instead of a branch halves the cost of the heap.
  std::size_t smaller(std::size_t a, std::size_t b) const {
    return a + (b - a) * static_cast<std::size_t>(entries_[b] < entries_[a]);
  }

  std::vector<Entry> entries_;
};

}  // namespace simulator
