// The congestion controls of NICs, by name. A new one is a file and a row here.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cc/constant.h"
#include "cc/controller.h"
#include "cc/dcqcn.h"
#include "cc/hpcc.h"
#include "cc/parameters.h"
#include "cc/rocc.h"
#include "cc/timely.h"
#include "cc/timely_patched.h"

namespace simulator {

struct Control {
  std::string_view name;
  std::string_view meaning;
  std::span<const Parameter> parameters;
  std::unique_ptr<Controller> (*create)(const ParameterValues& values, BitsPerSecond line_rate);
};

template <class Kind>
std::unique_ptr<Controller> create_control(const ParameterValues& values, BitsPerSecond line_rate) {
  return std::make_unique<Kind>(values, line_rate);
}

inline constexpr std::array kControls = {
    Control{"constant", "a rate and a window that never change, for comparison", kConstantParameters,
            create_control<Constant>},
    Control{"dcqcn", "DCQCN as its authors' text has it", kDcqcnParameters, create_control<Dcqcn>},
    Control{"dcqcn-ns3-rdma", "DCQCN as the simulator ns3-rdma has it", kDcqcnNs3RdmaParameters,
            create_control<Dcqcn>},
    Control{"timely", "TIMELY as its authors' text has it, in bursts", kTimelyParameters,
            create_control<Timely>},
    Control{"timely-ns3-rdma", "TIMELY as the simulator ns3-rdma has it", kTimelyNs3RdmaParameters,
            create_control<Timely>},
    Control{"timely-patched", "TIMELY with the repair of \"ECN or delay\"", kTimelyPatchedParameters,
            create_control<TimelyPatched>},
    Control{"rocc", "RoCC's reaction point: it obeys rates that switches work out", kRoccParameters,
            create_control<Rocc>},
    Control{"hpcc", "HPCC: a window by what each port on the way reports", kHpccParameters,
            create_control<Hpcc>},
};

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

}  // namespace simulator
