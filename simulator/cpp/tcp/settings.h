// Settings of a TCP connection, and the parameter tables of the kinds of TCP.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "cc/parameters.h"

namespace simulator {

// How a receiver echoes marks.
enum class TcpEcho : std::uint8_t {
  kNone,     // packets are not ECN-capable
  kLatched,  // from a mark until the sender says that it has reduced. Source: RFC 3168, section 6.1.3
  kExact,    // what the acknowledged segments had. Source: RFC 8257, section 3.2
};

inline constexpr std::uint32_t kIpTcpHeaderBytes = 20 + 20;
inline constexpr std::uint32_t kEthernetBytes = 14 + 4;  // header and FCS
inline constexpr std::uint32_t kFrameBytesMin = 64;
inline constexpr std::uint32_t kTimestampBytes = 12;  // RFC 7323, appendix A: two NOPs and ten bytes

struct TcpSettings {
  std::uint32_t segment_bytes = 0;   // payload of a full segment
  std::uint32_t overhead_bytes = 0;  // frame without it
  std::uint32_t option_bytes = 0;    // of that, TCP options, which acknowledgements also carry
  std::uint32_t initial_window_segments = 0;
  Bytes receive_window;
  Picoseconds rto_minimum;
  Picoseconds rto_maximum;
  std::uint32_t retries = 0;
  std::uint32_t acknowledge_every = 0;  // full segments
  Picoseconds delayed_acknowledgement;
  bool is_selective = true;
  TcpEcho echo = TcpEcho::kNone;

  // Source: RFC 2018, section 3: two NOPs, two bytes and eight for each block.
  std::uint32_t acknowledgement_frame_bytes(std::uint32_t blocks) const {
    const std::uint32_t selective = blocks == 0 ? 0 : 4 + 8 * blocks;
    return std::max(kFrameBytesMin, kEthernetBytes + kIpTcpHeaderBytes + option_bytes + selective);
  }
};

inline constexpr double kNsMax = 1e12;

// Sources: RFC 6928 (initial window 10); RFC 1122, 4.2.3.2 and RFC 5681,
// 4.2 (every second segment); Linux: net/ipv4/tcp.h (TCP_RTO_MIN 200 ms, TCP_DELACK_MIN 40 ms, TCP_RTO_MAX
// 120 s, TCP_RETR2 15), tcp_rmem (half of 6 MiB is the largest window that is offered).
inline constexpr std::array kTcpParameters = {
    Parameter{"timestamps", 0, 0, 1, "1: every segment has the timestamp option, 12 bytes"},
    Parameter{"framing_bytes", 0, 0, 128, "bytes of each segment that belong to a layer above TCP"},
    Parameter{"initial_window_segments", 10, 1, 1000, "window at the start and after a pause"},
    Parameter{"receive_window_bytes", 3 << 20, 9000, 1e12, "largest amount of unacknowledged data"},
    Parameter{"rto_min_ns", 200e6, 1000, kNsMax, "least retransmission timeout, and the first one"},
    Parameter{"rto_max_ns", 120e9, 1000, kNsMax, "largest retransmission timeout"},
    Parameter{"retries", 15, 0, 1000, "timeouts in a row after which the connection fails"},
    Parameter{"ack_every_segments", 2, 1, 1000,
              "segments in order per acknowledgement; all others are acknowledged at once"},
    Parameter{"delayed_ack_ns", 40e6, 1, kNsMax, "an acknowledgement waits no longer than this"},
    Parameter{"sack", 1, 0, 1, "0: NewReno without selective acknowledgements"},
    Parameter{"ecn", 0, 0, 1, "1: packets may be marked, and marks count like losses"},
};

// The table of a control: the common parameters with its own values, then its own parameters.
template <std::size_t kChanged, std::size_t kOwn>
constexpr auto tcp_parameters(const std::array<std::pair<std::string_view, double>, kChanged>& changes,
                              const std::array<Parameter, kOwn>& own) {
  std::array<Parameter, kTcpParameters.size() + kOwn> table{};
  std::size_t used = 0;
  for (const Parameter& parameter : kTcpParameters) {
    table[used] = parameter;
    for (const auto& [name, value] : changes) {
      if (parameter.name == name) table[used].value = value;
    }
    ++used;
  }
  for (const Parameter& parameter : own) table[used++] = parameter;
  return table;
}

// Values that contradict each other get a sentence.
inline TcpSettings tcp_settings(const ParameterValues& values, std::uint32_t segment_bytes,
                                bool echoes_exactly) {
  const auto integer = [&](const char* name) { return static_cast<std::uint32_t>(values.at(name)); };
  const auto time = [&](const char* name) {
    return Picoseconds{static_cast<std::int64_t>(values.at(name)) * kPicosecondsPerNanosecond};
  };
  TcpSettings settings;
  settings.option_bytes = values.at("timestamps") != 0 ? kTimestampBytes : 0;
  const std::uint32_t upper_bytes = integer("framing_bytes");
  settings.segment_bytes = segment_bytes;
  settings.overhead_bytes = kEthernetBytes + kIpTcpHeaderBytes + settings.option_bytes + upper_bytes;
  settings.initial_window_segments = integer("initial_window_segments");
  settings.receive_window = {static_cast<std::int64_t>(values.at("receive_window_bytes"))};
  settings.rto_minimum = time("rto_min_ns");
  settings.rto_maximum = time("rto_max_ns");
  settings.retries = integer("retries");
  settings.acknowledge_every = integer("ack_every_segments");
  settings.delayed_acknowledgement = time("delayed_ack_ns");
  settings.is_selective = values.at("sack") != 0;
  if (values.at("ecn") != 0) settings.echo = echoes_exactly ? TcpEcho::kExact : TcpEcho::kLatched;
  if (settings.rto_minimum > settings.rto_maximum) {
    throw ParameterError("tcp", "rto_min_ns up to rto_max_ns, " + number_text(values.at("rto_max_ns")),
                         number_text(values.at("rto_min_ns")));
  }
  if (settings.acknowledge_every > 1 && settings.delayed_acknowledgement >= settings.rto_minimum) {
    throw ParameterError("tcp",
                         "delayed_ack_ns below rto_min_ns, " + number_text(values.at("rto_min_ns")) +
                             ", for the sender to wait for the acknowledgement",
                         number_text(values.at("delayed_ack_ns")));
  }
  return settings;
}

}  // namespace simulator
