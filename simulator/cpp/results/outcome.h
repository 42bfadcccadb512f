// Small records that engines hand out.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"

namespace simulator {

enum class RunState { kReachedLimit, kSliceUsedUp, kHostsWaiting };

// Numbers of enum ibv_qp_state.
enum class QueuePairState : int { kReadyToSend = 3, kError = 6 };

// Numbers 0 and 1 belong to the special queue pairs of InfiniBand.
constexpr std::uint32_t queue_pair_number(std::uint32_t qp) {
  return qp + 2;
}

struct QueuePairFigures {
  QueuePairState state;
  Bytes retransmitted;
  Bytes delivered;  // to the other end, in order
  Bytes posted;
};

struct Counter {
  std::string node;
  std::string port;
  std::string name;
  std::int64_t value;
};

struct Statistics {
  std::uint64_t packet_hops = 0;
  std::uint64_t events = 0;
  std::uint64_t packets_live = 0;
  std::uint64_t packets_pool_max = 0;
  std::uint64_t verbs_done = 0;
};

}  // namespace simulator
