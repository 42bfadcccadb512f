// Controls that ship with the engine and are written as outsiders write theirs, in rogue/nic_control.h's words alone: a
// copy of such a header, with a name of its own, is a plug-in. Include this before them: their last line then makes a
// table by the name of the class, instead of the entry of a library.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/configuration.h"
#include "cc/compiled_control.h"
#include "cc/controller.h"
#include "cc/parameters.h"
#include "rogue/nic_control.h"

#undef ROGUE_NIC_CONTROL
#define ROGUE_NIC_CONTROL(Control, name, meaning, ...)                                           \
  inline constexpr ::rogue::Parameter kParametersOf##Control[] = {__VA_ARGS__};                  \
  inline constexpr std::span<const ::rogue::Parameter> kSpanOf##Control(kParametersOf##Control); \
  inline constexpr ::rogue::abi::Table kTableOf##Control =                                       \
      ::rogue::abi::Calls<Control, kSpanOf##Control>::table(name, meaning)

namespace simulator {

// The parameters of such a control, as the engine has those of its own.
template <const rogue::abi::Table& table>
constexpr auto parameters_of() {
  std::array<Parameter, table.parameter_count> parameters{};
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const rogue::Parameter& each = table.parameters[index];
    parameters[index] = {each.name, each.value, each.minimum, each.maximum, each.meaning};
  }
  return parameters;
}

template <const rogue::abi::Table& table>
constexpr Control as_outside(std::string_view name, std::string_view meaning,
                             std::span<const Parameter> parameters) {
  return {name, meaning, parameters,
          [](const ParameterValues& values, const PathFacts& path) -> std::unique_ptr<Controller> {
            std::vector<double> in_order;
            for (const rogue::Parameter& each : std::span(table.parameters, table.parameter_count))
              in_order.push_back(values.at(each.name));
            return std::make_unique<CompiledControl>(CompiledKind{&table, table.name}, in_order, path);
          }};
}

}  // namespace simulator
