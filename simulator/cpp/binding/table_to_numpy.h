// Hands a table to numpy: a dict with an array for each field of the rows.
#pragma once

#include <nanobind/ndarray.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/fields.h"
#include "base/units.h"
#include "reliability/acknowledgement.h"

namespace simulator {

namespace nb = nanobind;

// A member of a row as integers: how many it takes, and which. Nanoseconds are those of fields ending in _ns.
template <class Member>
struct Integers {
  static constexpr std::size_t kCount = 1;
  static void write(std::string_view, Member value, std::int64_t* to) {
    *to = static_cast<std::int64_t>(value);
  }
};
template <class Tag>
struct Integers<Quantity<Tag>> {
  static constexpr std::size_t kCount = 1;
  static void write(std::string_view name, Quantity<Tag> value, std::int64_t* to) {
    *to = name.ends_with("_ns") ? value.value / kPicosecondsPerNanosecond : value.value;
  }
};
template <std::size_t kRanges>
struct Integers<std::array<NumberRange, kRanges>> {
  static constexpr std::size_t kCount = 2 * kRanges;
  static void write(std::string_view, const std::array<NumberRange, kRanges>& ranges, std::int64_t* to) {
    for (const NumberRange& range : ranges) {
      *to++ = static_cast<std::int64_t>(range.first);
      *to++ = static_cast<std::int64_t>(range.end);
    }
  }
};

// An array of one dimension, or of two for a member that takes several integers.
template <class Row, class Member>
nb::object to_numpy(const std::vector<Row>& rows, const Field<Row, Member>& field) {
  constexpr std::size_t kCount = Integers<Member>::kCount;
  auto integers = std::make_unique<std::int64_t[]>(rows.size() * kCount);
  std::int64_t* const data = integers.get();
  for (std::size_t row = 0; row < rows.size(); ++row)
    Integers<Member>::write(field.name, rows[row].*field.member, data + row * kCount);
  nb::capsule owner(integers.release(), [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
  if constexpr (kCount == 1)
    return nb::cast(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(data, {rows.size()}, owner));
  else
    return nb::cast(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>(data, {rows.size(), kCount}, owner));
}

template <HasFields Row>
nb::dict to_numpy(const std::vector<Row>& rows) {
  nb::dict columns;
  std::apply([&](const auto&... field) { ((columns[field.name] = to_numpy(rows, field)), ...); },
             FieldsOf<Row>::kTable);
  return columns;
}

}  // namespace simulator
