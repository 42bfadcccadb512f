// The Ultra Ethernet transport: both halves. Sources: reliability/uet_requester.h and uet_responder.h.
#pragma once

#include "reliability/kind.h"
#include "reliability/uet_requester.h"
#include "reliability/uet_responder.h"
#include "reliability/uet_settings.h"

namespace simulator {

inline Reliability create_uet(const ParameterValues& values, std::uint32_t mtu_bytes) {
  const UetSettings settings(values, mtu_bytes);
  return {std::make_unique<UetRequester>(mtu_bytes, settings), std::make_unique<UetResponder>(settings)};
}

inline constexpr ReliabilityKind kUet{"uet",
                                      "Ultra Ethernet: selective acknowledgements and the window of NSCC",
                                      kUetParameters, "rto_ns", create_uet};

inline constexpr ReliabilityKind kUetRccc{
    "uet-rccc", "Ultra Ethernet with credits of receivers (RCCC), beside NSCC or alone", kUetCreditParameters,
    "rto_ns", create_uet};

}  // namespace simulator
