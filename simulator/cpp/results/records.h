// Records that engines hand out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace simulator {

// Small records that engines hand out.

enum class RunState { kReachedLimit, kSliceUsedUp, kHostsWaiting };

// Numbers of enum ibv_qp_state.
enum class QueuePairState : int { kReset = 0, kReadyToSend = 3, kError = 6 };

constexpr std::string_view name_of(QueuePairState state) {
  if (state == QueuePairState::kReset) return "RESET (0)";
  return state == QueuePairState::kError ? "ERR (6)" : "RTS (3)";
}

struct QueuePairFigures {
  QueuePairState state;
  Bytes retransmitted;
  Bytes delivered;  // to the other end or, by READs, from there: in order, or in whole messages
  Bytes posted;
  std::uint64_t delivered_messages;  // of an unreliable connection
  BitsPerSecond control_rate;        // that a congestion control in the NIC allows; 0 without one
};

// Of a port, or of a queue pair whose packets leave there.
struct Counter {
  std::uint32_t link;
  std::uint32_t qp_num;  // 0: of the port
  const char* name;      // a literal
  std::int64_t value;
};

struct Statistics {
  std::uint64_t packet_hops = 0;
  std::uint64_t events = 0;
  std::uint64_t packets_live = 0;
  std::uint64_t packets_pool_max = 0;
  std::uint64_t verbs_done = 0;
};

// Who waits for whom.

// A port that has something to send, but was told to pause; and where at the far end lies what came over it.
struct Wait {
  std::uint32_t link;
  std::uint32_t priority;
  std::vector<std::uint32_t> behind{};  // ports of the far end; none if that is a host
};

}  // namespace simulator
