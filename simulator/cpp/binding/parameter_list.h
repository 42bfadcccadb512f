// Tables of parameters for Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <span>
#include <string>

#include "cc/parameters.h"

namespace simulator {

namespace nb = nanobind;

inline nb::list parameter_list(std::span<const Parameter> table) {
  nb::list parameters;
  for (const Parameter& parameter : table) {
    parameters.append(nb::make_tuple(std::string(parameter.name), parameter.value, parameter.minimum,
                                     parameter.maximum, std::string(parameter.meaning)));
  }
  return parameters;
}
}  // namespace simulator
