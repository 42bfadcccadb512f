// A table of integers, stored by column, that becomes numpy arrays at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulator {

template <std::size_t kColumns>
class Columns {
 public:
  void add(const std::array<std::int64_t, kColumns>& row) {
    for (std::size_t i = 0; i < kColumns; ++i) columns_[i].push_back(row[i]);
  }
  const std::array<std::vector<std::int64_t>, kColumns>& columns() const { return columns_; }

 private:
  std::array<std::vector<std::int64_t>, kColumns> columns_;
};

}  // namespace simulator
