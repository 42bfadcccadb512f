// The congestion controls of NICs, by name. A new one is a header and its name here.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/configuration.h"
#include "cc/compiled_control.h"
#include "cc/constant.h"
#include "cc/controller.h"
#include "cc/dcqcn.h"
#include "cc/hpcc.h"
#include "cc/parameters.h"
#include "cc/powertcp.h"
#include "cc/rocc.h"
#include "cc/swift.h"
#include "cc/theta_powertcp.h"
#include "cc/timely.h"
#include "protocol/framing.h"

namespace simulator {

// As csg-htsim has it (841d9e7): its integers cut the window to whole packets before the target is worked out, and its
// routes count no hops once they are copied.
inline constexpr std::pair<std::string_view, double> kSwiftHtsimChanges[] = {{"hop_ns", 0},
                                                                             {"flow_whole", 1}};
inline constexpr auto kSwiftParameters = parameters_of<kTableOfSwift>();
inline constexpr auto kSwiftHtsimParameters = changed(kSwiftParameters, kSwiftHtsimChanges);
inline constexpr auto kPowerTcpParameters = parameters_of<kTableOfPowerTcp>();
inline constexpr auto kThetaPowerTcpParameters = parameters_of<kTableOfThetaPowerTcp>();

inline constexpr std::array kControls = {
    kConstant,
    kDcqcn,
    kDcqcnNs3Rdma,
    kTimely,
    kTimelyNs3Rdma,
    kTimelyPatched,
    kRocc,
    kHpcc,
    from_table<kTableOfSwift>(kTableOfSwift.name, kTableOfSwift.meaning, kSwiftParameters),
    from_table<kTableOfSwift>("swift-htsim", "Swift as the simulator csg-htsim has it",
                              kSwiftHtsimParameters),
    from_table<kTableOfPowerTcp>(kTableOfPowerTcp.name, kTableOfPowerTcp.meaning, kPowerTcpParameters),
    from_table<kTableOfThetaPowerTcp>(kTableOfThetaPowerTcp.name, kTableOfThetaPowerTcp.meaning,
                                      kThetaPowerTcpParameters),
};

inline const ControlKind& control_named(std::string_view name) {
  std::string known;
  for (const ControlKind& control : kControls) {
    if (control.name == name) return control;
    known += (known.empty() ? "" : ", ") + std::string(control.name);
  }
  throw SimulationError("expected a control named " + known + ", got " + std::string(name));
}

inline std::unique_ptr<Controller> create_controller(std::string_view name, const ParameterValues& given,
                                                     const PathFacts& path) {
  const ControlKind& control = control_named(name);
  return control.create(checked(control.name, control.parameters, given), path);
}

// The controller of a connection's first or second end, built-in or plug-in.
inline std::unique_ptr<Controller> controller_of(const ConnectionConfiguration& configuration, bool is_end_a,
                                                 BitsPerSecond line_rate, const Framing& framing) {
  const PathFacts path{
      .line_rate = line_rate,
      .base_rtt = is_end_a ? configuration.base_rtt_ab : configuration.base_rtt_ba,
      .mtu = {configuration.mtu_bytes},
      .packet = framing.wire_bytes(framing.write_frame_bytes(configuration.mtu_bytes, false)),
      .hops = static_cast<std::uint32_t>((is_end_a ? configuration.route_ab : configuration.route_ba).size() -
                                         1)};
  if (configuration.control_maker) return configuration.control_maker(path);
  return create_controller(configuration.control, configuration.control_parameters, path);
}

}  // namespace simulator
