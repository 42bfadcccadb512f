// A switch control outside RoGUE's tree: derive a class from `rogue::SwitchControl`, and end the file with
// ROGUE_SWITCH_CONTROL. The file is compiled once and loaded by the simulator.
//
// A class defines one or more of three functions: `on_arrival` (the verdict for a packet that arrives at a port),
// `on_departure` (for a packet that is about to leave it) and `choose` (which of several equal ports a packet takes).
//
// Each port of each switch has one object for the first two functions. Each switch has one more for `choose`. Calls
// of an object are in order of time. Calls of two objects are not, because the simulator processes ports lazily. So
// objects share nothing: no mutable globals, no statics. A control keeps no clock, and draws its random numbers from
// `rogue::Random`.
//
// The end of a name is its unit: `_ps` picoseconds, `_bps` bits per second, `_bytes` bytes of frames, from their
// Ethernet header to the check sequence, without preamble and gap. Parameters, which experiments set, end with
// `_bytes`, `_bps` or `_ns`, nanoseconds. What has no such end is a count, a number of something or a truth value.
//
// `rogue::abi` is the interface between the simulator and the compiled control.
#pragma once

#include <rogue/plugin.h>

#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

namespace rogue {

// The verdict for a packet.
enum class Verdict : std::uint32_t {
  kTake,  // it continues unchanged
  kMark,  // it is marked if it is ECN-capable
  kDrop,
  kTrim,  // on arrival: it is trimmed to its header if it allows that, and the header goes first
};

// The port or switch of an object.
struct Place {
  std::int64_t rate_bps;        // of the port's link; 0 of a switch
  std::uint64_t random_state;   // initial state of a `Random`, from this place and the cell's seed
  std::uint32_t is_switch;      // not 0: the object only chooses
  std::uint32_t leads_to_host;  // not 0: the port's link ends at a host; 0 for a switch
};

// The fields of a packet that a switch sees.
struct PacketSeen {
  std::int64_t frame_bytes;    // of the header if it was trimmed
  std::uint32_t priority;      // 0 to 7; a larger one goes first, unless `topology.weights` shares the port
  std::uint32_t flow;          // number of the destination queue pair; 0: none
  std::uint32_t entropy;       // of its source port, as spraying draws it; 0 without spraying
  std::uint8_t is_data;        // of a verb; the others are READ requests, acknowledgements, CNPs and messages
  std::uint8_t can_be_marked;  // it carries data or is a READ request, and is ECN-capable
  std::uint8_t is_marked;      // by this switch or an earlier one
  std::uint8_t can_be_trimmed;
};

// A packet that arrives at its port.
struct Arrival {
  std::int64_t now_ps;       // since the simulation began
  std::int64_t queue_bytes;  // waiting frames of its priority, without it
  std::int64_t port_bytes;   // waiting frames of all priorities, without it
  std::uint32_t must_wait;   // not 0: the port is sending or is paused
  PacketSeen packet;
};

// A packet that is about to leave its port.
struct Departure {
  std::int64_t now_ps;       // since the simulation began: when its first bit leaves
  std::int64_t waited_ps;    // since its arrival; 0: it found the port idle
  std::int64_t queue_bytes;  // waiting frames of its priority behind it
  std::int64_t port_bytes;   // waiting frames of all priorities behind it
  PacketSeen packet;
};

// A port that a packet may take.
struct EqualPort {
  std::int64_t rate_bps;     // of its link
  std::int64_t queue_bytes;  // waiting frames of all priorities; 0 without `wants_queues`
  std::int64_t sent_bytes;   // frames that it has begun to send in total; 0 without `wants_queues`
  std::uint32_t number;      // number of its link, constant during the simulation
  std::uint32_t is_sending;  // not 0: it is sending a frame; 0 without `wants_queues`
};

// A packet at a switch with several ports on shortest paths to its destination.
struct Choice {
  std::int64_t now_ps;               // since the simulation began
  std::span<const EqualPort> ports;  // in the order of their links
  std::uint32_t hashed;              // index of the port that the switch's hash would take
  PacketSeen packet;
};

class SwitchControl {
 public:
  // A class enables one by defining the same name as true.
  static constexpr bool wants_queues = false;  // `choose` gets the queues of ports, which costs time
  static constexpr bool trims = false;         // `on_arrival` may return kTrim: the header has priority 7

  SwitchControl() = default;
  SwitchControl(const SwitchControl&) = delete;
  SwitchControl& operator=(const SwitchControl&) = delete;
  virtual ~SwitchControl() = default;

  // The buffer may still refuse a packet after kTake.
  virtual Verdict on_arrival(const Arrival&) { return Verdict::kTake; }

  // After kDrop the next packet leaves at the same instant. kTrim is not allowed.
  virtual Verdict on_departure(const Departure&) { return Verdict::kTake; }

  // Return the index of a port. Called for packets of verbs, not for acknowledgements and CNPs.
  virtual std::uint32_t choose(const Choice& choice) { return choice.hashed; }
};

namespace abi {

inline constexpr std::uint32_t kSwitchVersion = 1;

struct ChoiceRecord {
  std::int64_t now_ps;
  const EqualPort* ports;
  std::uint32_t port_count;
  std::uint32_t hashed;
  PacketSeen packet;
};

// The table of a compiled control. The first member is the same in all versions. A call returns 0 or fills in the
// fault.
struct SwitchTable {
  std::uint32_t version;
  std::uint32_t parameter_count;
  const char* name;
  const char* meaning;
  const Parameter* parameters;
  std::uint8_t sees_arrivals;
  std::uint8_t sees_departures;
  std::uint8_t chooses;
  std::uint8_t wants_queues;
  std::uint8_t trims;

  void* (*create)(const double* values, const Place* place, Fault*);  // returns nothing, or a control
  void (*destroy)(void* control);
  int (*on_arrival)(void* control, const Arrival*, std::uint32_t* verdict, Fault*);
  int (*on_departure)(void* control, const Departure*, std::uint32_t* verdict, Fault*);
  int (*choose)(void* control, const ChoiceRecord*, std::uint32_t* port, Fault*);
};

template <class Control>
concept CanBeSwitchControl = std::is_base_of_v<SwitchControl, Control> &&
                             std::is_constructible_v<Control, const Parameters&, const Place&>;

// The calls of one class, as the table has them.
template <CanBeSwitchControl Control, const std::span<const Parameter>& parameters>
struct SwitchCalls {
  static constexpr bool kSeesArrivals =
      !std::is_same_v<decltype(&Control::on_arrival), Verdict (SwitchControl::*)(const Arrival&)>;
  static constexpr bool kSeesDepartures =
      !std::is_same_v<decltype(&Control::on_departure), Verdict (SwitchControl::*)(const Departure&)>;
  static constexpr bool kChooses =
      !std::is_same_v<decltype(&Control::choose), std::uint32_t (SwitchControl::*)(const Choice&)>;

  static void* create(const double* values, const Place* place, Fault* fault) {
    Control* control = nullptr;
    call_guarded(fault, [&] { control = new Control(Parameters(parameters, values), *place); });
    return control;
  }
  static Control& of(void* control) { return *static_cast<Control*>(control); }
  static void destroy(void* control) { delete static_cast<Control*>(control); }
  static int on_arrival(void* control, const Arrival* arrival, std::uint32_t* verdict, Fault* fault) {
    return call_guarded(fault,
                        [&] { *verdict = static_cast<std::uint32_t>(of(control).on_arrival(*arrival)); });
  }
  static int on_departure(void* control, const Departure* departure, std::uint32_t* verdict, Fault* fault) {
    return call_guarded(fault,
                        [&] { *verdict = static_cast<std::uint32_t>(of(control).on_departure(*departure)); });
  }
  static int choose(void* control, const ChoiceRecord* record, std::uint32_t* port, Fault* fault) {
    return call_guarded(fault, [&] {
      *port = of(control).choose(
          {record->now_ps, std::span(record->ports, record->port_count), record->hashed, record->packet});
    });
  }

  static constexpr SwitchTable table(const char* name, const char* meaning) {
    return {kSwitchVersion,
            static_cast<std::uint32_t>(parameters.size()),
            name,
            meaning,
            parameters.data(),
            kSeesArrivals,
            kSeesDepartures,
            kChooses,
            Control::wants_queues,
            Control::trims,
            create,
            destroy,
            on_arrival,
            on_departure,
            choose};
  }
};

}  // namespace abi
}  // namespace rogue

// The last line of a file: its class, its name in experiments (`topology.switch_controls`), what it is in a few words,
// and its parameters, each as {name, value, minimum, maximum, meaning}, numbers in the unit of the name: an experiment
// that says `above: 30KB` sets `above_bytes` to 30000, and `target: 5us` sets `target_ns` to 5000. The class is made
// from `const rogue::Parameters&` and `const rogue::Place&`.
#define ROGUE_SWITCH_CONTROL(Control, name, meaning, ...)                                         \
  extern "C" __attribute__((visibility("default"))) const void* rogue_switch_control() noexcept { \
    static constexpr ::rogue::Parameter table[] = {                                               \
        __VA_ARGS__ __VA_OPT__(, ){nullptr, 0, 0, 0, nullptr}}; /* no array is empty */           \
    static constexpr std::span<const ::rogue::Parameter> parameters(table, std::size(table) - 1); \
    static constexpr ::rogue::abi::SwitchTable calls =                                            \
        ::rogue::abi::SwitchCalls<Control, parameters>::table(name, meaning);                     \
    return &calls;                                                                                \
  }                                                                                               \
  static_assert(true)
