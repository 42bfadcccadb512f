// Configuration of a network: links, ports, paths.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace simulator {

// Properties of a path that a NIC knows before anything is sent.
struct PathFacts {
  BitsPerSecond line_rate;  // of the host's link
  Picoseconds base_rtt;     // of a full packet and its acknowledgement in an idle network
  Bytes mtu;                // payload of a full packet
  Bytes packet;             // what a full packet occupies on the wire
  std::uint32_t hops = 0;   // switches on the forward path
};

// Configurations of a simulation. simulator/parameters.py has checked the values.

// How a NIC counts retries of a reliable connection.
struct RetryRules {
  bool refills_per_verb = false;     // a NAK refills the counter only if it acknowledges a whole verb
  bool ignores_naks = false;         // from a retry until the counter is refilled
  bool is_endless_at_seven = false;  // seven retries never run out
  bool waits_at_read_gap = false;    // a gap in the responses to a READ is no NAK
  bool keeps_ack_count = false;      // a request for an ACK follows so many packets, also those sent again
};

// What shares the interval of CNPs. The numbers are those of simulator/profiles.py.
enum class CnpScope : std::uint8_t { kQueuePair, kAddress, kPort };

struct NicProfile {
  std::uint32_t limiters = 0;        // 0 = one for each queue pair
  BitsPerSecond rate_step;           // requested rates are rounded up to a multiple; 0 = exact
  Bytes actuation_lag_max;           // wire bytes that still leave at the old rate, at most
  double clock_drift_ppm_max = 0;    // 0: it also starts at 0
  bool withholds_next_verb = false;  // this and the next two: see RequesterSettings
  std::uint64_t unacknowledged_packets_max = 0;
  std::uint64_t packets_after_nak_max = 0;
  std::int64_t pci_rc_ns = 0;  // these four: see PciDelay
  std::int64_t pci_uc_ns = 0;
  std::int64_t pci_late_ns = 0;
  double pci_late_probability = 0;
  RetryRules retrying{};
  Picoseconds nak_delay{};            // from the packet that shows a gap to its NAK
  Picoseconds cnp_delay{};            // from a marked packet to its CNP
  Picoseconds resend_delay{};         // from a NAK to the first packet that is sent again
  Picoseconds cnp_interval = kNever;  // least time between CNPs; kNever: as the control has it
  CnpScope cnp_scope = CnpScope::kQueuePair;
  bool cnp_with_nak = false;  // a NAK draws a CNP, as a mark does
  Picoseconds timeout_min{};  // least timeout, whatever the queue pair's attribute says
};

// Priority flow control: what a switch tells the other ends of its links. Source: IEEE 802.1Qbb-2011.
struct PauseConfiguration {
  std::uint8_t priorities = 0;          // bit p: priority p loses nothing
  std::optional<Bytes> xoff{};          // threshold of each ingress and priority; none: alpha * (free buffer)
  double alpha = 0;                     // of that
  Bytes xon_gap;                        // resume so far below the threshold
  Picoseconds duration = kNever;        // pause time of a frame; kNever: until resumed
  Picoseconds refresh_every = kNever;   // sends it again, while the reason lasts
  Picoseconds watchdog_after = kNever;  // a host that pauses for this time loses its frames
  Picoseconds watchdog_restore{};       // until it has not paused for this time
};

// When a switch marks packets, by the length of their queue.
struct MarkingConfiguration {
  std::uint8_t priorities = 0xff;  // bit p: of priority p
  Bytes minimum;                   // kmin: nothing is marked up to it
  Bytes maximum;                   // kmax: everything is marked above it
  double probability = 0;          // and just below that a packet with this probability
  double average_weight = 1;  // of each arriving packet's sight of the queue; 1: the queue of the instant
  bool is_at_departure = true;
  bool drops_above = false;    // what comes while the queue is longer than `maximum`
  bool drops_instead = false;  // of marking: a queue without ECN
  bool spares_hosts = false;   // ports towards them mark nothing
};

// A full queue cuts the payload of a packet that allows it, and the rest goes in front. Source: Ultra Ethernet
// specification 1.0, packet trimming; Handley et al., "Re-architecting datacenter networks and stacks for low
// latency and high performance", SIGCOMM 2017, section 3.1 (NDP).
struct TrimmingConfiguration {
  std::optional<Bytes> above;  // of a port's queue, with the packet; none: a plug-in decides
  std::uint32_t priority = 7;  // of what is left
  bool by_coin = false;        // as often the newest packet that waits as the one that comes
};

class SwitchControl;
class ReceiverControl;
}  // namespace simulator

namespace rogue {
struct Place;
struct Host;
}  // namespace rogue

namespace simulator {

// Makes a part of switches that is not ours, for a port or for a switch.
using SwitchControlMaker = std::function<std::unique_ptr<SwitchControl>(const rogue::Place&)>;

// Makes what a host grants by, if that is not ours.
using ReceiverControlMaker = std::function<std::unique_ptr<ReceiverControl>(const rogue::Host&)>;

struct SwitchConfiguration {
  std::optional<Bytes> buffer;  // none = unbounded
  double alpha = 1.0;           // a port may hold alpha * (free buffer)
  std::optional<PauseConfiguration> pause{};
  std::vector<MarkingConfiguration> markings{};
  std::array<std::uint32_t, 8> weights{};               // by priority; 0: none (see WeightedTurns)
  std::optional<std::map<std::string, double>> rocc{};  // parameters of its congestion points
  bool is_input_queued = false;  // what comes in over a link waits in a buffer of that link, `buffer`
  bool has_telemetry = false;    // ports write into packets what they hold and sent
  std::optional<TrimmingConfiguration> trimming{};
  SwitchControlMaker aqm{};            // of packets at each port, from outside
  SwitchControlMaker port_selector{};  // among equal ports, from outside
  BitsPerSecond thresholds_at{};       // rate of a port that trims and marks as stated; 0: all do

  // Its ports have a queue for each priority.
  bool has_classes() const {
    return pause || has_marking() || rocc || has_telemetry || has_weights() || is_input_queued || trimming;
  }
  bool has_marking() const { return !markings.empty() || aqm; }
  bool has_weights() const { return weights != std::array<std::uint32_t, 8>{}; }
};

enum class LossKind : std::uint8_t { kNone, kIndependent, kBurst, kIpId };

struct LossConfiguration {
  LossKind kind = LossKind::kNone;
  Picoseconds from;
  Picoseconds until = kNever;
  double loss_probability = 0;       // of each packet, or while the line is bad
  double good_loss_probability = 0;  // while it is good
  double to_bad_probability = 0;
  double to_good_probability = 0;
  std::uint16_t ip_id_mask = 0;
};

struct LinkConfiguration {
  BitsPerSecond rate;
  Picoseconds delay;
  LossConfiguration loss{};
  Bytes headroom_a{};  // that the first end, if it is a switch with flow control, reserves for this link
  Bytes headroom_b{};
};

class Controller;

// Makes a congestion control from what is known of its path.
using ControlMaker = std::function<std::unique_ptr<Controller>(const PathFacts&)>;

struct ConnectionConfiguration {
  std::uint32_t host_a = 0;
  std::uint32_t host_b = 0;
  std::vector<std::uint32_t> route_ab;  // directed link numbers, first to last
  std::vector<std::uint32_t> route_ba;
  std::uint32_t mtu_bytes = 0;
  std::uint32_t ack_every_packets = 0;
  std::uint32_t retry_count = 0;
  std::uint32_t timeout_exponent = 0;  // 0 = never
  bool is_unreliable = false;          // type UC instead of RC
  std::uint32_t priority = 0;
  std::string control{};  // of the NICs; empty = none
  std::map<std::string, double> control_parameters{};
  ControlMaker control_maker{};  // of one that is not ours; its parameters are its own business
  std::uint32_t cnp_priority = 0;
  Picoseconds base_rtt_ab{};  // of a full packet from a, for its control
  Picoseconds base_rtt_ba{};
  std::string reliability{};  // empty = go-back-N, of RC
  std::map<std::string, double> reliability_parameters{};
  ReceiverControlMaker
      receiver_maker{};  // for a reliability with credits; the same at all connections of a host
  std::optional<std::uint32_t> acknowledgement_priority{};  // with a reliability; none: `priority`
  std::uint64_t path_seed = 0;                              // the entropy behind both routes
  std::uint32_t spray_paths = 0;  // entropies that choose the paths of its packets; 0: they take the routes
  std::optional<std::uint32_t> limiter_of{};  // a queue pair of either host that lends its pair's limiters
};

// A cable is two links, one per direction, with neighbouring numbers.
constexpr std::uint32_t reverse_of(std::uint32_t link) {
  return link ^ 1;
}

}  // namespace simulator
