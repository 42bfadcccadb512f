// Hands a table to numpy, one array per column, without copying it twice.
#pragma once

#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "base/columns.h"

namespace simulator {

namespace nb = nanobind;

inline nb::object to_numpy(const std::vector<std::int64_t>& column) {
  auto copy = std::make_unique<std::vector<std::int64_t>>(column);
  std::vector<std::int64_t>* const data = copy.get();
  nb::capsule owner(copy.release(),
                    [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(data->data(), {data->size()}, owner));
}

template <std::size_t kColumns>
nb::list to_numpy(const Columns<kColumns>& table) {
  nb::list arrays;
  for (const auto& column : table.columns()) arrays.append(to_numpy(column));
  return arrays;
}

}  // namespace simulator
