// A kind of congestion control, as experiments name it. Its header ends with one; cc/registry.h lists them.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/path_facts.h"
#include "cc/controller.h"
#include "cc/parameters.h"

namespace simulator {

struct Control {
  std::string_view name;
  std::string_view meaning;
  std::span<const Parameter> parameters;
  std::unique_ptr<Controller> (*create)(const ParameterValues& values, const PathFacts& path);
};

template <class Kind>
constexpr Control control(std::string_view name, std::string_view meaning,
                          std::span<const Parameter> parameters) {
  return {name, meaning, parameters,
          [](const ParameterValues& values, const PathFacts& path) -> std::unique_ptr<Controller> {
            return std::make_unique<Kind>(values, path.line_rate);
          }};
}

}  // namespace simulator
