// A congestion control of NICs outside RoGUE's tree: derive a class from `rogue::NicControl`, and end the file with
// ROGUE_NIC_CONTROL. The file is compiled once and loaded by the simulator.
//
// Each end of a connection has one. The simulator reads the attributes after each call, and at no other time.
// A control keeps no clock, draws no unseeded random numbers and starts no threads. It has no mutable globals or
// statics: a worker runs several cells at once in one process. Times are picoseconds.
//
// `rogue::abi` is the interface between the simulator and the compiled control: plain structures and function pointers,
// so that the two may use different compilers and C++ libraries.
#pragma once

#include <rogue/plugin.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <type_traits>

namespace rogue {

inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();  // of bytes

// Properties of a path that are known before anything is sent.
struct PathFacts {
  std::int64_t line_rate_bps;  // of the sender's link
  std::int64_t base_rtt_ps;    // of a full packet and its acknowledgement in an idle network
  std::int64_t mtu_bytes;      // payload of a full packet
  std::int64_t packet_bytes;   // wire bytes of a full packet
  std::uint32_t hops;          // switches on the forward path
};

// Attributes that the simulator reads after each call.
struct Attributes {
  std::int64_t rate_bps = 0;               // of wire bytes; no limit if it is not below the line rate
  std::int64_t window_bytes = kUnlimited;  // largest payload in flight, rounded up to whole packets
  std::int64_t deadline_ps = kNever;       // time of the next `on_timer` call
  std::int64_t untold_bytes_max = 0;       // departures of fewer wire bytes than this may be reported late,
                                           // together; 0 reports each one
  std::int64_t cnp_gap_ps = kNever;        // smallest gap between CNPs of the receiver. Read once
  std::int64_t burst_bytes = 0;            // wire bytes that leave at the line rate before a gap restores the
                                           // average rate. Read once
};

// Telemetry that a switch port writes into a departing packet.
struct Hop {
  std::int64_t left_ps;      // time at which the packet began to leave
  std::int64_t queue_bytes;  // frame bytes waiting behind it
  std::int64_t sent_bytes;   // wire bytes that the port has begun to send in total, including this packet
  std::int64_t rate_bps;     // of the link
};

// An ACK or NAK of a packet.
struct Acknowledgement {
  std::int64_t sent_ps;            // when that packet began to leave; kNever: unknown
  std::uint64_t acknowledged_psn;  // all packets below have arrived
  std::uint64_t sent_psn;          // one past the highest ever sent
  std::uint64_t recoveries;        // begun by the sender in total because of an ACK or NAK, without timeouts
  bool is_marked;                  // that packet arrived marked
  std::span<const Hop> hops;       // with `wants_telemetry`
};

using Metrics = std::map<std::string, double>;  // by name with unit

class NicControl : public Attributes {
 public:
  // A class enables one by defining the same name as true.
  static constexpr bool wants_acknowledgements =
      false;                                      // each packet is acknowledged, `on_acknowledgement` called
  static constexpr bool wants_telemetry = false;  // and acknowledgements bring `hops` of switches
  static constexpr bool wants_feedback = false;   // switches compute rates as RoCC's do: `on_feedback`
  static constexpr bool wants_marks = false;      // switches mark packets as for DCQCN

  explicit NicControl(std::int64_t line_rate_bps) { rate_bps = line_rate_bps; }
  explicit NicControl(const PathFacts& path) : NicControl(path.line_rate_bps) {}
  NicControl(const NicControl&) = delete;
  NicControl& operator=(const NicControl&) = delete;
  virtual ~NicControl() = default;

  // A congestion notification packet has arrived.
  virtual void on_cnp(std::int64_t /*now_ps*/) {}

  // Departures, perhaps reported late. It must not bring the deadline nearer or change the window. A class
  // without it gets no reports.
  virtual void on_sent(std::int64_t /*now_ps*/, std::int64_t /*wire_bytes*/) {}

  virtual void on_acknowledgement(std::int64_t /*now_ps*/, const Acknowledgement&) {}

  // A switch requests a rate for flows through one of its ports.
  virtual void on_feedback(std::int64_t /*now_ps*/, std::uint32_t /*port*/, std::int64_t /*rate_bps*/) {}

  // The deadline has come.
  virtual void on_timer(std::int64_t /*now_ps*/) {}

  // State by name, for people and tests.
  virtual Metrics metrics(std::int64_t /*now_ps*/) const { return {}; }
};

namespace abi {

inline constexpr std::uint32_t kVersion = 3;  // version 1 passed only the line rate, 2 no recoveries

struct AcknowledgementRecord {
  std::int64_t sent_ps;
  std::uint64_t acknowledged_psn;
  std::uint64_t sent_psn;
  std::uint64_t recoveries;
  const Hop* hops;
  std::uint32_t hop_count;
  std::uint32_t is_marked;
};

// Takes one metric; `sink` is whatever the caller passed.
using AddMetric = void (*)(void* sink, const char* name, double value);

// The table of a compiled control. The first member is the same in all versions. A call returns 0 or fills in the
// fault.
struct Table {
  std::uint32_t version;
  std::uint32_t parameter_count;
  const char* name;
  const char* meaning;
  const Parameter* parameters;
  std::uint8_t wants_acknowledgements;
  std::uint8_t wants_telemetry;
  std::uint8_t wants_feedback;
  std::uint8_t wants_marks;
  std::uint8_t wants_departures;

  // Returns nothing, or a control, and sets where its attributes are.
  void* (*create)(const double* values, const PathFacts* path, const Attributes** attributes, Fault*);
  void (*destroy)(void* control);
  int (*on_cnp)(void* control, std::int64_t now_ps, Fault*);
  int (*on_sent)(void* control, std::int64_t now_ps, std::int64_t wire_bytes, Fault*);
  int (*on_acknowledgement)(void* control, std::int64_t now_ps, const AcknowledgementRecord*, Fault*);
  int (*on_feedback)(void* control, std::int64_t now_ps, std::uint32_t port, std::int64_t rate_bps, Fault*);
  int (*on_timer)(void* control, std::int64_t now_ps, Fault*);
  int (*metrics)(const void* control, std::int64_t now_ps, void* sink, AddMetric add, Fault*);
};

template <class Control>
concept TakesPath = std::is_constructible_v<Control, const Parameters&, const PathFacts&>;

template <class Control>
concept CanBeControl =
    std::is_base_of_v<NicControl, Control> &&
    (TakesPath<Control> || std::is_constructible_v<Control, const Parameters&, std::int64_t>);

// The calls of one class, as the table has them.
template <CanBeControl Control, const std::span<const Parameter>& parameters>
struct Calls {
  static constexpr bool kWantsDepartures =
      !std::is_same_v<decltype(&Control::on_sent), void (NicControl::*)(std::int64_t, std::int64_t)>;

  static void* create(const double* values, const PathFacts* path, const Attributes** attributes,
                      Fault* fault) {
    Control* control = nullptr;
    call_guarded(fault, [&] {
      const Parameters given(parameters, values);
      if constexpr (TakesPath<Control>) {
        control = new Control(given, *path);
      } else {
        control = new Control(given, path->line_rate_bps);
      }
      *attributes = control;
    });
    return control;
  }
  static Control& of(void* control) { return *static_cast<Control*>(control); }
  static void destroy(void* control) { delete static_cast<Control*>(control); }
  static int on_cnp(void* control, std::int64_t now_ps, Fault* fault) {
    return call_guarded(fault, [&] { of(control).on_cnp(now_ps); });
  }
  static int on_sent(void* control, std::int64_t now_ps, std::int64_t wire_bytes, Fault* fault) {
    return call_guarded(fault, [&] { of(control).on_sent(now_ps, wire_bytes); });
  }
  static int on_acknowledgement(void* control, std::int64_t now_ps, const AcknowledgementRecord* record,
                                Fault* fault) {
    return call_guarded(fault, [&] {
      of(control).on_acknowledgement(
          now_ps, {record->sent_ps, record->acknowledged_psn, record->sent_psn, record->recoveries,
                   record->is_marked != 0, std::span(record->hops, record->hop_count)});
    });
  }
  static int on_feedback(void* control, std::int64_t now_ps, std::uint32_t port, std::int64_t rate_bps,
                         Fault* fault) {
    return call_guarded(fault, [&] { of(control).on_feedback(now_ps, port, rate_bps); });
  }
  static int on_timer(void* control, std::int64_t now_ps, Fault* fault) {
    return call_guarded(fault, [&] { of(control).on_timer(now_ps); });
  }
  static int metrics(const void* control, std::int64_t now_ps, void* sink, AddMetric add, Fault* fault) {
    return call_guarded(fault, [&] {
      for (const auto& [name, value] : static_cast<const Control*>(control)->metrics(now_ps))
        add(sink, name.c_str(), value);
    });
  }

  static constexpr Table table(const char* name, const char* meaning) {
    return {kVersion,
            static_cast<std::uint32_t>(parameters.size()),
            name,
            meaning,
            parameters.data(),
            Control::wants_acknowledgements || Control::wants_telemetry,
            Control::wants_telemetry,
            Control::wants_feedback,
            Control::wants_marks,
            kWantsDepartures,
            create,
            destroy,
            on_cnp,
            on_sent,
            on_acknowledgement,
            on_feedback,
            on_timer,
            metrics};
  }
};

}  // namespace abi
}  // namespace rogue

// The last line of a file: its class, its name in experiments (`roce+NAME`), what it is in a few words, and its
// parameters, each as {name, value, minimum, maximum, meaning}. The class is made from
// `const rogue::Parameters&`, and from `const rogue::PathFacts&` or only the line's rate in bits per second.
#define ROGUE_NIC_CONTROL(Control, name, meaning, ...)                                            \
  extern "C" __attribute__((visibility("default"))) const void* rogue_nic_control() noexcept {    \
    static constexpr ::rogue::Parameter table[] = {                                               \
        __VA_ARGS__ __VA_OPT__(, ){nullptr, 0, 0, 0, nullptr}}; /* no array is empty */           \
    static constexpr std::span<const ::rogue::Parameter> parameters(table, std::size(table) - 1); \
    static constexpr ::rogue::abi::Table calls =                                                  \
        ::rogue::abi::Calls<Control, parameters>::table(name, meaning);                           \
    return &calls;                                                                                \
  }                                                                                               \
  static_assert(true)
