// Text of a control from outside the engine, as Python has it: what is no UTF-8 becomes U+FFFD.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "cc/controller.h"

namespace simulator {

namespace nb = nanobind;

inline nb::str outside_text(std::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), size, "replace"));
}

inline nb::dict outside_metrics(const Metrics& metrics) {
  nb::dict result;
  for (const auto& [name, value] : metrics) result[outside_text(name)] = value;
  return result;
}

}  // namespace simulator
