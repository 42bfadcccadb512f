// What a queue pair with a reliability of its own cannot do.
#pragma once

#include "base/check.h"
#include "protocol/queue_pair.h"
#include "protocol/verb_ring.h"

namespace simulator {

inline void require_plain_write(std::uint32_t qp, const Verb& verb) {
  if (verb.kind == VerbKind::kWrite && !verb.immediate && !verb.moves_bytes) return;
  throw QueuePairError(queue_pair_name(qp) +
                       " repairs losses in a way of its own: expected a WRITE without immediate data and "
                       "without a memory bound to it");
}

[[noreturn]] inline void refuse_reset(std::uint32_t qp) {
  throw QueuePairError(queue_pair_name(qp) + " repairs losses in a way of its own: it cannot be reset");
}

}  // namespace simulator
