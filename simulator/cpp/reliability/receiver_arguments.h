// Arguments of a plug-in receiver control: its host, and each packet that arrives. The functions are called before and
// after the packet's responder takes it.
#pragma once

#include <cstdint>
#include <string>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "base/units.h"
#include "reliability/responder.h"
#include "reliability/uet_settings.h"
#include "rogue/receiver_control.h"

namespace simulator {

// The place of a host, as the first of its connections has it.
inline rogue::Host host_of(std::uint64_t seed, const std::string& name, BitsPerSecond rate,
                           const ConnectionConfiguration& configuration) {
  const UetSettings settings(
      checked(configuration.reliability, kUetCreditParameters, configuration.reliability_parameters),
      configuration.mtu_bytes);
  return {.rate_bps = rate.value,
          .base_rtt_ps = settings.base_rtt.value,
          .mtu_bytes = settings.payload.value,
          .header_bytes = settings.header.value,
          .credit_max_bytes = settings.credit_max().value,
          .random_state = RandomStream(seed, "receiver:" + name).state()};
}

inline rogue::Received received_before(const Responder& responder, const DataPacket& packet, bool is_marked,
                                       Picoseconds now) {
  const bool is_request = packet.is_request;
  const auto ahead = static_cast<std::int64_t>(packet.number - responder.expected());
  return {.now_ps = now.value,
          .asked_bytes = 0,
          .granted_bytes = 0,
          .ahead_packets = is_request ? 0 : ahead,
          .connection = rogue::kNobody,
          .payload_bytes = packet.payload_bytes,
          .is_trimmed = packet.is_trimmed,
          .is_marked = is_marked,
          .is_duplicate = !is_request && responder.has(packet.number),
          .is_request = is_request};
}

inline void fill_in(rogue::Received& received, const CreditGrants& grants, std::uint32_t connection) {
  received.asked_bytes = grants.requested_bytes().value;
  received.granted_bytes = grants.granted_bytes().value;
  received.connection = connection;
}

// Credit that may be granted now.
inline std::int64_t room_of(const CreditGrants& grants) {
  return (grants.requested_bytes() - grants.granted_bytes()).value + rogue::kCreditAheadMaxBytes;
}

}  // namespace simulator
