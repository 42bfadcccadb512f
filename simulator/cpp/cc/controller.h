// The interface of congestion controls in a NIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/configuration.h"
#include "base/units.h"
#include "cc/parameters.h"

namespace simulator {

using Metrics = std::map<std::string, double>;  // by name with unit

inline constexpr std::uint32_t kHopsMax = 8;  // that a packet can record

// Telemetry that a switch port writes into a departing packet.
struct HopRecord {
  Picoseconds left;    // when the packet began to leave
  Bytes queue;         // frames that waited behind it
  Bytes sent;          // wire bytes that the port has begun to send in total, with this packet
  BitsPerSecond rate;  // of the link
};

// An ACK or NAK has come.
struct AckEvent {
  Picoseconds sent;                // when the packet that it is for began to leave; kNever: not known
  std::uint64_t acknowledged_psn;  // everything below has arrived
  std::uint64_t sent_psn;          // one past the highest number ever sent
  std::uint64_t recoveries;        // begun by the sender, ever, because of an ACK or NAK
  bool is_marked;                  // the packet that it is for came marked
  std::span<const HopRecord> hops{};
};

// A congestion control in the NIC: it sets the rate and the window of one queue pair.
// It does no I/O and keeps no clock: an engine tells it what left and what came back, and wakes it at
// `deadline()`.
class Controller {
 public:
  static constexpr Bytes kNoWindow{std::numeric_limits<std::int64_t>::max()};
  static constexpr Bytes kEverything{std::numeric_limits<std::int64_t>::max()};

  Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  virtual ~Controller() = default;

  // Of wire bytes; no limit if it is not below the line rate.
  virtual BitsPerSecond rate() const = 0;

  // Wire bytes that leave at the line rate before a gap brings the average down to the rate; 0: each packet has
  // its own gap.
  virtual Bytes burst() const { return {}; }

  // Largest payload in flight, rounded up to whole packets.
  virtual Bytes window() const { return kNoWindow; }

  // A packet of `wire` bytes began to leave. Engines may call this late, so it must not bring the deadline
  // nearer. Returns false if the rate has not changed.
  virtual bool on_sent(Picoseconds, Bytes) { return false; }

  // Engines may report departures together, as one, while they have fewer wire bytes than this and nothing
  // else happens. 0: report each one.
  virtual Bytes unreported_max() const { return {}; }

  // A congestion notification packet (CNP) has come; the receiving end sends one for a marked packet, but at
  // most one per cnp_gap(). kNever: none.
  virtual void on_cnp(Picoseconds) {}
  virtual Picoseconds cnp_gap() const { return kNever; }

  // An acknowledgement has come, and nothing has left since. Only for a control that wants them.
  virtual bool wants_acknowledgements() const { return false; }
  virtual bool wants_telemetry() const { return false; }  // acknowledgements with `hops`
  virtual void on_acknowledgement(Picoseconds, const AckEvent&) {}

  // A switch requests a rate for each flow through one of its ports. Only with wants_feedback().
  virtual bool wants_feedback() const { return false; }
  virtual void on_feedback(Picoseconds, std::uint32_t /*port*/, BitsPerSecond) {}

  // Call when `deadline()` has come.
  virtual void on_timer(Picoseconds) {}
  virtual Picoseconds deadline() const { return kNever; }

  // The control's state by name, for people and tests. Reading it changes nothing.
  virtual Metrics metrics(Picoseconds now) const = 0;
};

// Its state together with rate and window: the same for every control.
inline Metrics metrics_of(const Controller& controller, Picoseconds now) {
  Metrics metrics = controller.metrics(now);
  metrics.emplace("rate_bps", static_cast<double>(controller.rate().value));
  const Bytes window = controller.window();
  if (window != Controller::kNoWindow) metrics.emplace("window_bytes", static_cast<double>(window.value));
  return metrics;
}

// A kind of congestion control, as experiments name it. Its header ends with one; cc/registry.h lists them.
struct ControlKind {
  std::string_view name;
  std::string_view meaning;
  std::span<const Parameter> parameters;
  std::unique_ptr<Controller> (*create)(const ParameterValues& values, const PathFacts& path);
};

template <class Kind>
constexpr ControlKind control(std::string_view name, std::string_view meaning,
                              std::span<const Parameter> parameters) {
  return {name, meaning, parameters,
          [](const ParameterValues& values, const PathFacts& path) -> std::unique_ptr<Controller> {
            return std::make_unique<Kind>(values, path.line_rate);
          }};
}

// Round-trip times of segments, for TIMELY (cc/timely.h). A segment's time is that of its last packet: from
// when its last byte leaves, at the line rate, until its acknowledgement. In a burst at line rate that is the
// completion time of the whole segment less its serialisation.
class Segments {
 public:
  Segments(Bytes size, BitsPerSecond line_rate)
      : size_(size), ps_per_byte_(picoseconds_per_byte(line_rate)) {}

  void on_sent(Picoseconds now, Bytes wire) {
    unfinished_ += wire;
    if (unfinished_ < size_) return;
    unfinished_ = Bytes{};
    if (waiting_.size() == kWaitingMax) waiting_.pop_front();
    waiting_.push_back({now, now + duration_of(wire, ps_per_byte_)});
  }

  // The time of the segment that ends with the packet that is acknowledged, if any. Packets are known by the
  // instants they left at, so one that was sent again cannot be taken for the first one.
  std::optional<Picoseconds> on_acknowledgement(Picoseconds now, const AckEvent& acknowledged) {
    if (acknowledged.sent == kNever) return {};
    std::optional<Picoseconds> time;
    for (; !waiting_.empty() && waiting_.front().began <= acknowledged.sent; waiting_.pop_front()) {
      if (waiting_.front().began == acknowledged.sent) time = now - waiting_.front().ended;
    }
    return time;
  }

 private:
  static constexpr std::size_t kWaitingMax = 4096;  // responses to READs are never acknowledged

  struct SegmentEnd {
    Picoseconds began;
    Picoseconds ended;
  };

  Bytes size_;
  double ps_per_byte_;
  Bytes unfinished_;                // of the segment that is being sent
  std::deque<SegmentEnd> waiting_;  // last packets of segments, in the order they left
};

}  // namespace simulator
