// IRN: both halves. Source: reliability/irn_requester.h.
#pragma once

#include "reliability/irn_requester.h"
#include "reliability/irn_responder.h"
#include "reliability/irn_settings.h"
#include "reliability/kind.h"

namespace simulator {

inline Reliability create_irn(const ParameterValues& values, std::uint32_t mtu_bytes) {
  const auto threshold_nacks = static_cast<std::uint64_t>(values.at("threshold_nacks"));
  return {std::make_unique<IrnRequester>(mtu_bytes, IrnSettings(values), threshold_nacks),
          std::make_unique<IrnResponder>()};
}

inline constexpr ReliabilityKind kIrn{"irn", "IRN: selective repeat, and a cap on packets in flight",
                                      kIrnParameters, "rto_low_ns", create_irn};

}  // namespace simulator
