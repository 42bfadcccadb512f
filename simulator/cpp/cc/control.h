// A kind of congestion control, as experiments name it. Its header ends with one; cc/registry.h lists them.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "cc/controller.h"
#include "cc/parameters.h"

namespace simulator {

struct Control {
  std::string_view name;
  std::string_view meaning;
  std::span<const Parameter> parameters;
  std::unique_ptr<Controller> (*create)(const ParameterValues& values, BitsPerSecond line_rate);
};

template <class Kind>
constexpr Control control(std::string_view name, std::string_view meaning,
                          std::span<const Parameter> parameters) {
  return {name, meaning, parameters,
          [](const ParameterValues& values, BitsPerSecond line_rate) -> std::unique_ptr<Controller> {
            return std::make_unique<Kind>(values, line_rate);
          }};
}

}  // namespace simulator
