// The send queue of a queue pair: verbs in posting order, addressed by a running number.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ring.h"
#include "base/units.h"

namespace simulator {

// Numbers of enum ibv_wc_status.
enum class VerbStatus : int { kSuccess = 0, kFlushed = 5, kRetryExceeded = 12 };

enum class VerbKind : std::uint8_t { kWrite, kSend, kRead };

struct Verb {
  std::uint64_t wr_id = 0;
  std::uint64_t first_psn = 0;
  std::uint64_t last_psn = 0;
  Bytes length;
  // End of the first transmission of the last packet: an oracle, no verb delivers it. For a READ, what lies
  // between it and the completion is the time that request and last response were under way.
  Picoseconds left_nic = kNever;
  std::uint32_t last_payload_bytes = 0;
  bool is_signaled = false;
  VerbKind kind = VerbKind::kWrite;
  std::optional<std::uint32_t> immediate{};
  std::int64_t local_offset = 0;
  std::int64_t remote_offset = 0;
  bool moves_bytes = false;  // between memories
};

using VerbRing = Ring<Verb>;

}  // namespace simulator
