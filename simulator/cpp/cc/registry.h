// The congestion controls of NICs, by name. A new one is a header and its name here.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/configuration.h"
#include "cc/constant.h"
#include "cc/control.h"
#include "cc/controller.h"
#include "cc/dcqcn.h"
#include "cc/hpcc.h"
#include "cc/parameters.h"
#include "cc/rocc.h"
#include "cc/timely.h"
#include "cc/timely_patched.h"

namespace simulator {

inline constexpr std::array kControls = {kConstant,      kDcqcn,         kDcqcnNs3Rdma, kTimely,
                                         kTimelyNs3Rdma, kTimelyPatched, kRocc,         kHpcc};

inline const Control& control_named(std::string_view name) {
  std::string known;
  for (const Control& control : kControls) {
    if (control.name == name) return control;
    known += (known.empty() ? "" : ", ") + std::string(control.name);
  }
  throw SimulationError("expected a control named " + known + ", got " + std::string(name));
}

inline std::unique_ptr<Controller> create_controller(std::string_view name, const ParameterValues& given,
                                                     BitsPerSecond line_rate) {
  const Control& control = control_named(name);
  return control.create(checked(control.name, control.parameters, given), line_rate);
}

// What a connection asks for, of ours or not.
inline std::unique_ptr<Controller> controller_of(const ConnectionConfiguration& asked,
                                                 BitsPerSecond line_rate) {
  if (asked.control_maker) return asked.control_maker(line_rate);
  return create_controller(asked.control, asked.control_parameters, line_rate);
}

}  // namespace simulator
