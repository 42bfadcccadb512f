// A receiver control outside RoGUE's tree, which grants credit to senders: derive a class from
// `rogue::ReceiverControl`, and end the file with ROGUE_RECEIVER_CONTROL. The file is compiled once and loaded by the
// simulator.
//
// A sender may send the bytes that its receiver has granted: its credit. Each receiving host has one object for all of
// its connections. The object sees each arriving packet (`on_arrival`), returns the time of its next turn
// (`next_turn_ps`), and at its turn which connection gets how much credit (`on_turn`). Calls of an object are in
// order of time. Calls of two objects are not, and objects share nothing: no mutable globals, no statics. A control
// keeps no clock, and draws its random numbers from `rogue::Random`.
//
// The end of a name is its unit: `_ps` picoseconds, `_bps` bits per second, `_bytes` bytes. Credit counts the payload
// of a packet and `header_bytes` for each. Parameters, which experiments set, end with `_bytes`, `_bps` or `_ns`,
// nanoseconds. What has no such end is a count, a number of something or a truth value.
//
// `rogue::abi` is the interface between the simulator and the compiled control.
#pragma once

#include <rogue/plugin.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>

namespace rogue {

// Packets carry credit as a running total in these units: bytes beyond a whole unit are reported with the grant that
// completes the next one.
inline constexpr std::int64_t kCreditUnitBytes = 256;
// Largest credit of a sender beyond its request.
inline constexpr std::int64_t kCreditAheadMaxBytes = std::int64_t{1} << 28;
inline constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

// The host of an object.
struct Host {
  std::int64_t rate_bps;          // of its link
  std::int64_t base_rtt_ps;       // of the longest path of the network, without queues
  std::int64_t mtu_bytes;         // payload of a full packet
  std::int64_t header_bytes;      // counted against credit beside the payload
  std::int64_t credit_max_bytes;  // initial and largest credit of a sender; grants beyond it are void
  std::uint64_t random_state;     // initial state of a `Random`, from this host and the cell's seed
};

// A packet that has arrived.
struct Received {
  std::int64_t now_ps;         // since the simulation began
  std::int64_t asked_bytes;    // total credit that its sender requests
  std::int64_t granted_bytes;  // total credit granted so far
  std::int64_t ahead_packets;  // distance from the first missing packet: 0 in order, below 0 already received
  std::uint32_t connection;    // of this host: 0, 1 and so on, in the order of their creation
  std::uint32_t payload_bytes;  // as it was sent
  std::uint8_t is_trimmed;      // a switch trimmed its payload: it must be sent again
  std::uint8_t is_marked;
  std::uint8_t is_duplicate;  // it was received before
  std::uint8_t is_request;    // it has no payload: its sender waits for credit
};

// Result of a turn. The receiver reports it to the sender in a separate acknowledgement.
struct Grant {
  std::uint32_t connection = kNobody;  // kNobody: no report
  std::int64_t bytes = 0;              // 0: repeat the total granted so far
};

class ReceiverControl {
 public:
  ReceiverControl() = default;
  ReceiverControl(const ReceiverControl&) = delete;
  ReceiverControl& operator=(const ReceiverControl&) = delete;
  virtual ~ReceiverControl() = default;

  virtual void on_arrival(const Received& packet) = 0;

  // Time of its next turn, or kNever; read after each of the other two calls. After an arrival it may be now, after a
  // turn it must be later.
  virtual std::int64_t next_turn_ps() const = 0;

  virtual Grant on_turn(std::int64_t now_ps) = 0;
};

namespace abi {

inline constexpr std::uint32_t kReceiverVersion = 1;

// The table of a compiled control. The first member is the same in all versions. A call returns 0 or fills in the
// fault.
struct ReceiverTable {
  std::uint32_t version;
  std::uint32_t parameter_count;
  const char* name;
  const char* meaning;
  const Parameter* parameters;

  void* (*create)(const double* values, const Host* host, Fault*);  // returns nothing, or a control
  void (*destroy)(void* control);
  int (*on_arrival)(void* control, const Received*, std::int64_t* next_turn_ps, Fault*);
  int (*on_turn)(void* control, std::int64_t now_ps, Grant*, std::int64_t* next_turn_ps, Fault*);
};

template <class Control>
concept CanBeReceiverControl = std::is_base_of_v<ReceiverControl, Control> &&
                               std::is_constructible_v<Control, const Parameters&, const Host&>;

// The calls of one class, as the table has them.
template <CanBeReceiverControl Control, const std::span<const Parameter>& parameters>
struct ReceiverCalls {
  static void* create(const double* values, const Host* host, Fault* fault) {
    Control* control = nullptr;
    call_guarded(fault, [&] { control = new Control(Parameters(parameters, values), *host); });
    return control;
  }
  static Control& of(void* control) { return *static_cast<Control*>(control); }
  static void destroy(void* control) { delete static_cast<Control*>(control); }
  static int on_arrival(void* control, const Received* packet, std::int64_t* next_turn_ps, Fault* fault) {
    return call_guarded(fault, [&] {
      of(control).on_arrival(*packet);
      *next_turn_ps = of(control).next_turn_ps();
    });
  }
  static int on_turn(void* control, std::int64_t now_ps, Grant* grant, std::int64_t* next_turn_ps,
                     Fault* fault) {
    return call_guarded(fault, [&] {
      *grant = of(control).on_turn(now_ps);
      *next_turn_ps = of(control).next_turn_ps();
    });
  }

  static constexpr ReceiverTable table(const char* name, const char* meaning) {
    return {kReceiverVersion,
            static_cast<std::uint32_t>(parameters.size()),
            name,
            meaning,
            parameters.data(),
            create,
            destroy,
            on_arrival,
            on_turn};
  }
};

}  // namespace abi
}  // namespace rogue

// The last line of a file: its class, its name in experiments (`uet+NAME`), what it is in a few words, and its
// parameters, each as {name, value, minimum, maximum, meaning}, numbers in the unit of the name, which a transport sets
// beside its own. The class is made from `const rogue::Parameters&` and `const rogue::Host&`.
#define ROGUE_RECEIVER_CONTROL(Control, name, meaning, ...)                                         \
  extern "C" __attribute__((visibility("default"))) const void* rogue_receiver_control() noexcept { \
    static constexpr ::rogue::Parameter table[] = {                                                 \
        __VA_ARGS__ __VA_OPT__(, ){nullptr, 0, 0, 0, nullptr}}; /* no array is empty */             \
    static constexpr std::span<const ::rogue::Parameter> parameters(table, std::size(table) - 1);   \
    static constexpr ::rogue::abi::ReceiverTable calls =                                            \
        ::rogue::abi::ReceiverCalls<Control, parameters>::table(name, meaning);                     \
    return &calls;                                                                                  \
  }                                                                                                 \
  static_assert(true)
