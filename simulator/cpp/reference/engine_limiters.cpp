// Rate limiters of NICs, in the eager engine.
#include <algorithm>

#include "protocol/queue_pair.h"
#include "reference/engine.h"

namespace simulator::reference {

void Engine::add_limiter(Node& node) {
  const std::string name = "limiter-lag:" + node.name + ":" + std::to_string(node.limiters.size());
  node.limiters.emplace_back(node.clock.second());
  node.lags.emplace_back(seed_, name);
}

std::uint32_t Engine::limiter_for(std::uint32_t host, const ConnectionConfiguration& configuration) {
  Node& node = nodes_[host];
  const auto nth = static_cast<std::uint32_t>(node.queue_pairs.size());
  if (node.profile.limiters == 0) return nth;
  if (!configuration.control.empty()) {
    ++node.lent;
    return static_cast<std::uint32_t>(node.limiters.size());
  }
  if (!configuration.limiter_of) return (nth - node.lent) % node.profile.limiters;
  require_uncontrolled(*configuration.limiter_of, "limiter_of");
  ++node.lent;
  const QueuePair& lender = queue_pairs_[*configuration.limiter_of];
  return lender.node == host ? lender.limiter : queue_pairs_[lender.peer].limiter;
}

BitsPerSecond Engine::set_rate(std::uint32_t qp, BitsPerSecond rate) {
  require_uncontrolled(qp, "set_rate");
  Node& node = node_of(qp);
  const std::uint32_t number = queue_pairs_[qp].limiter;
  const BitsPerSecond effective = rounded_up(rate, node.profile.rate_step);
  const Bytes lag{node.lags[number].next_integer(node.profile.actuation_lag_max.value)};
  node.limiters[number].set_rate(effective, lag, now_);
  if (!node.limiters[number].is_pending()) {
    for (const std::uint32_t other : node.queue_pairs) {
      if (queue_pairs_[other].limiter == number)
        queue_pairs_[other].ready = std::max(queue_pairs_[other].ready, now_);
    }
  }
  send_if_possible(queue_pairs_[qp].route->front());
  return effective;
}

void Engine::use_limiter(std::uint32_t qp, std::uint32_t limiter) {
  QueuePair& queue_pair = queue_pairs_[qp];
  require_uncontrolled(qp, "use_limiter");
  if (!is_idle(qp) || !queue_pair.responses.empty())
    throw QueuePairError(queue_pair_name(qp) + " is not idle: use_limiter needs an empty send queue");
  if (limiter >= node_of(qp).limiters.size())
    throw SimulationError("use_limiter: the NIC has no limiter " + std::to_string(limiter));
  for (const std::uint32_t other : node_of(qp).queue_pairs) {
    if (queue_pairs_[other].limiter == limiter) require_uncontrolled(other, "use_limiter");
  }
  queue_pair.limiter = limiter;
}

}  // namespace simulator::reference
