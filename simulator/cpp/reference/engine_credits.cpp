// Credits of receivers in the eager engine.
#include "protocol/queue_pair.h"
#include "reference/engine.h"

namespace simulator::reference {

void Engine::add_credits(std::uint32_t qp) {
  Node& node = node_of(qp);
  if (node.credits) return;
  node.credits.emplace();
  node.credit_timer = add_timer(TimerKind::kCredit, queue_pairs_[qp].node);
}

// How many queue pairs have packets in a NIC.
std::int64_t Engine::rivals_at(const Node& node) const {
  std::int64_t rivals = 0;
  for (const std::uint32_t qp : node.queue_pairs) rivals += queue_pairs_[qp].has_packet();
  return rivals;
}

// A packet came that may want a turn for its queue pair.
void Engine::follow_credits(std::uint32_t qp) {
  CreditGrants* const grants = queue_pairs_[qp].reliability->responder->grants();
  if (grants == nullptr || !grants->take_wish()) return;
  node_of(qp).credits->want(qp);
  grant_what_is_due(queue_pairs_[qp].node);
}

void Engine::grant_what_is_due(std::uint32_t host) {
  Node& node = nodes_[host];
  while (node.credits->deadline() <= now_) give_turn(node);
  const Picoseconds deadline = node.credits->deadline();
  if (timers_[node.credit_timer].deadline != deadline) set_timer(node.credit_timer, deadline);
}

void Engine::give_turn(Node& node) {
  const auto [qp, is_idle] = node.credits->take();
  const QueuePair& receiver = queue_pairs_[qp];
  if (receiver.state != QueuePairState::kReadyToSend) return;
  const CreditGrants& grants = *receiver.reliability->responder->grants();
  const std::int64_t quanta = receiver.reliability->responder->grant(is_idle);
  send_acknowledgements(qp, {});
  if (grants.is_owed()) {
    node.credits->want(qp);
  } else if (!is_idle || grants.may_be_ahead()) {
    node.credits->wait_for_idle_moments(qp);
  }
  const double ps_per_byte = picoseconds_per_byte(links_[receiver.route->front()].configuration.rate);
  node.credits->wait_until(now_ + grants.pause_after(quanta, ps_per_byte));
}

// What was spent or void had been granted; what was told had been, too.
void Engine::check_credits() const {
  for (std::uint32_t qp = 0; qp < queue_pairs_.size(); ++qp) {
    const QueuePair& sender = queue_pairs_[qp];
    if (!sender.reliability || sender.reliability->requester->account() == nullptr) continue;
    const CreditAccount& account = *sender.reliability->requester->account();
    SIM_CHECK(account.is_balanced(), now_, queue_pair_name(qp),
              "credit that was granted differs from credit accounted for");
    const CreditGrants& grants = *queue_pairs_[sender.peer].reliability->responder->grants();
    SIM_CHECK(account.granted() <= grants.granted(), now_, queue_pair_name(qp),
              "more credit was told than was granted");
  }
}

}  // namespace simulator::reference
