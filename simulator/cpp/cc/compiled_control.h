// Plug-in controls in C++, compiled outside this tree, and built-in controls written like them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/configuration.h"
#include "base/units.h"
#include "cc/controller.h"
#include "cc/parameters.h"
#include "cc/plugin_control.h"
#include "rogue/nic_control.h"

// Some controls of the engine are written against rogue/nic_control.h alone: a copy of such a header is a plug-in.
// Include this header before them. Their last line then defines a table named after the class instead of a library
// entry.
#undef ROGUE_NIC_CONTROL
#define ROGUE_NIC_CONTROL(Control, name, meaning, ...)                                           \
  inline constexpr ::rogue::Parameter kParametersOf##Control[] = {__VA_ARGS__};                  \
  inline constexpr std::span<const ::rogue::Parameter> kSpanOf##Control(kParametersOf##Control); \
  inline constexpr ::rogue::abi::Table kTableOf##Control =                                       \
      ::rogue::abi::Calls<Control, kSpanOf##Control>::table(name, meaning)

namespace simulator {

using CompiledKind = PluginKind<rogue::abi::Table>;

class CompiledControl final : public PluginControl<CompiledControl> {
 public:
  // `values` are those of all parameters, in the order of the table.
  CompiledControl(const CompiledKind& kind, const std::vector<double>& values, const PathFacts& path)
      : PluginControl(kind.table->name, kind.file, wants_of(*kind.table)), table_(*kind.table) {
    rogue::abi::Fault fault;
    const rogue::PathFacts facts{.line_rate_bps = path.line_rate.value,
                                 .base_rtt_ps = path.base_rtt.value,
                                 .mtu_bytes = path.mtu.value,
                                 .packet_bytes = path.packet.value,
                                 .hops = path.hops};
    control_ = table_.create(values.data(), &facts, &attributes_, &fault);
    if (control_ == nullptr) throw raised("its constructor", fault);
    try {
      begin(*attributes_);
    } catch (...) {
      table_.destroy(control_);
      throw;
    }
  }
  ~CompiledControl() override { table_.destroy(control_); }

 private:
  friend PluginControl<CompiledControl>;

  static Wants wants_of(const rogue::abi::Table& table) {
    return {table.wants_acknowledgements != 0, table.wants_telemetry != 0, table.wants_feedback != 0,
            table.wants_departures != 0};
  }

  rogue::Attributes sent(Picoseconds now, Bytes wire) {
    return after("on_sent", table_.on_sent, now.value, wire.value);
  }
  rogue::Attributes cnp(Picoseconds now) { return after("on_cnp", table_.on_cnp, now.value); }
  rogue::Attributes timer(Picoseconds now) { return after("on_timer", table_.on_timer, now.value); }
  rogue::Attributes feedback(Picoseconds now, std::uint32_t port, BitsPerSecond rate) {
    return after("on_feedback", table_.on_feedback, now.value, port, rate.value);
  }
  rogue::Attributes acknowledgement(Picoseconds now, const AckEvent& ack) {
    std::array<rogue::Hop, kHopsMax> hops;
    std::transform(ack.hops.begin(), ack.hops.end(), hops.begin(), [](const HopRecord& hop) {
      return rogue::Hop{hop.left.value, hop.queue.value, hop.sent.value, hop.rate.value};
    });
    const rogue::abi::AcknowledgementRecord record{.sent_ps = ack.sent.value,
                                                   .acknowledged_psn = ack.acknowledged_psn,
                                                   .sent_psn = ack.sent_psn,
                                                   .recoveries = ack.recoveries,
                                                   .hops = hops.data(),
                                                   .hop_count = static_cast<std::uint32_t>(ack.hops.size()),
                                                   .is_marked = ack.is_marked};
    return after("on_acknowledgement", table_.on_acknowledgement, now.value, &record);
  }

  Metrics read_metrics(Picoseconds now) const {
    Metrics metrics;
    rogue::abi::Fault fault;
    const auto add = [](void* sink, const char* name, double value) {
      static_cast<Metrics*>(sink)->insert_or_assign(name, value);
    };
    if (table_.metrics(control_, now.value, &metrics, add, &fault) != 0) throw raised("metrics", fault);
    return metrics;
  }

  template <class Call, class... Values>
  const rogue::Attributes& after(const char* name, Call call, std::int64_t now_ps, const Values&... values) {
    rogue::abi::Fault fault;
    if (call(control_, now_ps, values..., &fault) != 0) [[unlikely]]
      throw raised(name, fault);
    return *attributes_;
  }

  ControlError raised(const char* call, const rogue::abi::Fault& fault) const {
    std::string where = place();
    if (fault.line != 0) where.append(":").append(std::to_string(fault.line));
    return {where, std::string(call).append(": ").append(fault.text)};
  }

  const rogue::abi::Table& table_;
  void* control_ = nullptr;
  const rogue::Attributes* attributes_ = nullptr;
};

// Parameters of such a control in the form of built-in controls.
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
constexpr ControlKind from_table(std::string_view name, std::string_view meaning,
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
