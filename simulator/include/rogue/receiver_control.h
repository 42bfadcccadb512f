// What a host grants to those that send to it, written outside RoGUE's tree: derive a class from
// `rogue::ReceiverControl`, and end the file with ROGUE_RECEIVER_CONTROL. The file is compiled once, and loaded by the
// simulator.
//
// A sender may send what its receiver has granted: that is its credit. Each host that receives has one object for all
// of its connections. The object is told of each packet that comes (`on_arrival`), says when its next turn is
// (`next_turn_ps`), and at its turn who is granted how much (`on_turn`). An object is asked in the order of time. Two
// objects are not, and share nothing: no mutable globals, no statics. A control keeps no clock, and draws its random
// numbers from `rogue::Random`.
//
// The end of a name is its unit: `_ps` picoseconds, `_bps` bits per second, `_bytes` bytes. Credit counts the payload of
// a packet and `header_bytes` for each. Parameters, which experiments set, end with `_bytes`, `_bps` or `_ns`,
// nanoseconds. What has no such end is a count, a number of something or a truth value.
//
// Everything in `rogue::abi` is what passes between the simulator and the compiled control.
#pragma once

#include <rogue/plugin.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>

namespace rogue {

// Credit travels as a running number of such units: what is granted beyond one is told with the grant that fills the
// next.
inline constexpr std::int64_t kCreditUnitBytes = 256;
// A sender must not be granted more than this beyond what it asked for.
inline constexpr std::int64_t kCreditAheadMaxBytes = std::int64_t{1} << 28;
inline constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

// Where an object stands.
struct Host {
  std::int64_t rate_bps;          // of its link
  std::int64_t base_rtt_ps;       // of the longest path of the network, without queues
  std::int64_t mtu_bytes;         // payload of a full packet
  std::int64_t header_bytes;      // that credit counts beside a payload
  std::int64_t credit_max_bytes;  // what a sender begins with and ever has: what is granted beyond is void
  std::uint64_t random_state;     // what a `Random` begins with: of this host, and of the cell's seed
};

// A packet has come.
struct Received {
  std::int64_t now_ps;          // since the simulation began
  std::int64_t asked_bytes;     // up to where its sender wants credit, of all that is ever granted
  std::int64_t granted_bytes;   // what was granted, of the same
  std::int64_t ahead_packets;   // of the first packet that was missing: 0 in order, below 0 come before
  std::uint32_t connection;     // of this host: 0, 1 and so on, in the order in which they were made
  std::uint32_t payload_bytes;  // as it was sent
  std::uint8_t is_trimmed;      // a switch cut its payload off: it must be sent again
  std::uint8_t is_marked;
  std::uint8_t is_duplicate;  // it has come before
  std::uint8_t is_request;    // it has no bytes: its sender waits for credit
};

// What becomes of a turn. Its receiver tells the sender so, in an acknowledgement of its own.
struct Grant {
  std::uint32_t connection = kNobody;  // kNobody: nothing is told
  std::int64_t bytes = 0;              // 0: what was granted so far is told again
};

class ReceiverControl {
 public:
  ReceiverControl() = default;
  ReceiverControl(const ReceiverControl&) = delete;
  ReceiverControl& operator=(const ReceiverControl&) = delete;
  virtual ~ReceiverControl() = default;

  virtual void on_arrival(const Received& packet) = 0;

  // The instant of its next turn, or kNever; asked after each of the other two. After an arrival it may be that instant,
  // after a turn it is later.
  virtual std::int64_t next_turn_ps() const = 0;

  virtual Grant on_turn(std::int64_t now_ps) = 0;
};

namespace abi {

inline constexpr std::uint32_t kReceiverVersion = 1;

// What a compiled control is. The first member stays what and where it is in all versions. A call returns 0, or
// fills in the fault.
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
    kept(fault, [&] { control = new Control(Parameters(parameters, values), *host); });
    return control;
  }
  static Control& of(void* control) { return *static_cast<Control*>(control); }
  static void destroy(void* control) { delete static_cast<Control*>(control); }
  static int on_arrival(void* control, const Received* packet, std::int64_t* next_turn_ps, Fault* fault) {
    return kept(fault, [&] {
      of(control).on_arrival(*packet);
      *next_turn_ps = of(control).next_turn_ps();
    });
  }
  static int on_turn(void* control, std::int64_t now_ps, Grant* grant, std::int64_t* next_turn_ps,
                     Fault* fault) {
    return kept(fault, [&] {
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
