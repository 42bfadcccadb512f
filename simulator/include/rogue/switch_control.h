// A part of switches, written outside RoGUE's tree: derive a class from `rogue::SwitchControl`, and end the file with
// ROGUE_SWITCH_CONTROL. The file is compiled once, and loaded by the simulator.
//
// There are three questions, and a class answers those that it has a function for: `on_arrival` (what becomes of a
// packet that comes to a port), `on_departure` (and of one that is about to leave it), `choose` (which of equal ports
// it takes).
//
// Each port of each switch has an object of its own, for the first two questions. Each switch has one more, for
// `choose`. An object is asked in the order of time. Two objects are not: the simulator looks at a port when
// somebody needs it. So they share nothing: no mutable globals, no statics. A control keeps no clock, and draws its
// random numbers from `rogue::Random`.
//
// The end of a name is its unit: `_ps` picoseconds, `_bps` bits per second, `_bytes` bytes of frames, from their
// Ethernet header to the check sequence, without preamble and gap. Parameters, which experiments set, end with
// `_bytes`, `_bps` or `_ns`, nanoseconds. What has no such end is a count, a number of something or a truth value.
//
// Everything in `rogue::abi` is what passes between the simulator and the compiled control.
#pragma once

#include <rogue/plugin.h>

#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

namespace rogue {

// What becomes of a packet.
enum class Verdict : std::uint32_t {
  kTake,  // it goes on as it is
  kMark,  // and says that it met congestion, if it may be marked
  kDrop,
  kTrim,  // on arrival: its payload is cut off, if it allows that, and the rest goes in front
};

// Where an object stands.
struct Place {
  std::int64_t rate_bps;        // of the port's link; 0 of a switch
  std::uint64_t random_state;   // what a `Random` begins with: of this place, and of the cell's seed
  std::uint32_t is_switch;      // not 0: the object is asked to choose, and for nothing else
  std::uint32_t leads_to_host;  // not 0: the port's link ends at a host; 0 of a switch
};

// What a switch sees of a packet.
struct PacketSeen {
  std::int64_t frame_bytes;    // of what is left of it, if it was trimmed
  std::uint32_t priority;      // 0 to 7; a larger one goes first, unless `topology.weights` shares the port
  std::uint32_t flow;          // the queue pair that it is for, by number; 0: none
  std::uint32_t entropy;       // of its source port, as spraying draws it; 0 where nothing is sprayed
  std::uint8_t is_data;        // of a verb; the others are READ requests, acknowledgements, CNPs and messages
  std::uint8_t can_be_marked;  // it carries data or is a READ request, and says that it knows ECN
  std::uint8_t is_marked;      // by this switch or by one before
  std::uint8_t can_be_trimmed;
};

// A packet has come to its port.
struct Arrival {
  std::int64_t now_ps;       // since the simulation began
  std::int64_t queue_bytes;  // frames of its priority that wait, without it
  std::int64_t port_bytes;   // frames of all priorities that wait, without it
  std::uint32_t must_wait;   // not 0: the port is sending something, or is paused
  PacketSeen packet;
};

// A packet is about to leave its port.
struct Departure {
  std::int64_t now_ps;       // since the simulation began: when its first bit leaves
  std::int64_t waited_ps;    // since it came; 0: it found the port idle
  std::int64_t queue_bytes;  // frames of its priority that wait behind it
  std::int64_t port_bytes;   // frames of all priorities that wait behind it
  PacketSeen packet;
};

// A port that a packet may take.
struct EqualPort {
  std::int64_t rate_bps;     // of its link
  std::int64_t queue_bytes;  // frames of all priorities that wait; 0 without `wants_queues`
  std::int64_t sent_bytes;   // frames that it has begun to send, ever; 0 without `wants_queues`
  std::uint32_t number;      // of its link: the same for as long as the network stands
  std::uint32_t is_sending;  // not 0: something is on its way out; 0 without `wants_queues`
};

// A packet has come to a switch from which several ports lead to its destination by a shortest path.
struct Choice {
  std::int64_t now_ps;               // since the simulation began
  std::span<const EqualPort> ports;  // in the order of their links
  std::uint32_t hashed;              // which of them the switch takes by its hash, without a control
  PacketSeen packet;
};

class SwitchControl {
 public:
  // A class that wants one says so by the same name, with true.
  static constexpr bool wants_queues = false;  // `choose` is told what waits at ports, which costs time
  static constexpr bool trims = false;  // `on_arrival` may say kTrim: the rest of a packet has priority 7

  SwitchControl() = default;
  SwitchControl(const SwitchControl&) = delete;
  SwitchControl& operator=(const SwitchControl&) = delete;
  virtual ~SwitchControl() = default;

  // A packet that is taken may still find no room in the buffer.
  virtual Verdict on_arrival(const Arrival&) { return Verdict::kTake; }

  // What says kDrop leaves its place to the next packet, at the same instant. There is no kTrim.
  virtual Verdict on_departure(const Departure&) { return Verdict::kTake; }

  // Which of the ports, from 0 on. Packets of verbs are asked about, acknowledgements and CNPs are not.
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

// What a compiled control is. The first member stays what and where it is in all versions. A call returns 0, or
// fills in the fault.
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
    kept(fault, [&] { control = new Control(Parameters(parameters, values), *place); });
    return control;
  }
  static Control& of(void* control) { return *static_cast<Control*>(control); }
  static void destroy(void* control) { delete static_cast<Control*>(control); }
  static int on_arrival(void* control, const Arrival* arrival, std::uint32_t* verdict, Fault* fault) {
    return kept(fault, [&] { *verdict = static_cast<std::uint32_t>(of(control).on_arrival(*arrival)); });
  }
  static int on_departure(void* control, const Departure* departure, std::uint32_t* verdict, Fault* fault) {
    return kept(fault, [&] { *verdict = static_cast<std::uint32_t>(of(control).on_departure(*departure)); });
  }
  static int choose(void* control, const ChoiceRecord* told, std::uint32_t* port, Fault* fault) {
    return kept(fault, [&] {
      *port = of(control).choose(
          {told->now_ps, std::span(told->ports, told->port_count), told->hashed, told->packet});
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
// that says `above: 30KB` sets `above_bytes` to 30000, and `target: 5us` sets `target_ns` to 5000. The class is made from
// `const rogue::Parameters&` and `const rogue::Place&`.
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
