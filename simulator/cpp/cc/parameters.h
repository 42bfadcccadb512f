// Parameters of congestion controls: a table of names, defaults and bounds.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace simulator {

inline constexpr double kNanosecondsMax = 1e9;
inline constexpr double kRateMax = 1e13;

struct Parameter {
  std::string_view name;  // ends in its unit
  double value;           // unless the user gives another one
  double minimum;
  double maximum;
  std::string_view meaning;
};

using ParameterValues = std::map<std::string, double>;

inline Picoseconds nanoseconds(double value) {
  return {static_cast<std::int64_t>(value) * kPicosecondsPerNanosecond};
}

// The table of a variant: the same parameters, some of them with other values.
template <std::size_t count, std::size_t changes>
constexpr std::array<Parameter, count> changed(std::array<Parameter, count> table,
                                               const std::pair<std::string_view, double> (&values)[changes]) {
  for (Parameter& parameter : table) {
    for (const auto& [name, value] : values) {
      if (parameter.name == name) parameter.value = value;
    }
  }
  return table;
}

inline std::string number_text(double value) {
  if (std::abs(value) < 1e15 && value == std::trunc(value)) return std::to_string(std::llround(value));
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// The values of all parameters. Throws ParameterError for a name that is unknown, or a value out of bounds.
inline ParameterValues checked(std::string_view control, std::span<const Parameter> table,
                               const ParameterValues& given) {
  ParameterValues values;
  std::string known;
  for (const Parameter& parameter : table) {
    values.emplace(parameter.name, parameter.value);
    known += (known.empty() ? "" : ", ") + std::string(parameter.name);
  }
  for (const auto& [name, value] : given) {
    if (!values.contains(name)) {
      throw ParameterError(control, "one of the parameters " + known, name);
    }
    values[name] = value;
  }
  for (const Parameter& parameter : table) {
    const double value = values.at(std::string(parameter.name));
    if (value >= parameter.minimum && value <= parameter.maximum) continue;
    throw ParameterError(control,
                         std::string(parameter.name) + " from " + number_text(parameter.minimum) + " to " +
                             number_text(parameter.maximum),
                         number_text(value));
  }
  return values;
}

}  // namespace simulator
