// Credits of receivers in the eager engine.
#include <algorithm>
#include <memory>

#include "protocol/queue_pair.h"
#include "reference/engine.h"
#include "reliability/receiver_told.h"

namespace simulator::reference {

void Engine::add_credits(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  Node& node = node_of(qp);
  if (!node.credits) {
    node.credits = std::make_shared<CreditPacer>();
    node.credit_timer = add_timer(TimerKind::kCredit, queue_pairs_[qp].node);
    if (configuration.receiver_maker) {
      const BitsPerSecond rate = links_[queue_pairs_[qp].route->front()].configuration.rate;
      node.receiver_control = configuration.receiver_maker(host_of(seed_, node.name, rate, configuration));
    }
  }
  node.receivers.push_back(qp);
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

// The same for a control from outside.
void Engine::tell_received(std::uint32_t qp, rogue::Received received) {
  Node& node = node_of(qp);
  const auto at = std::find(node.receivers.begin(), node.receivers.end(), qp);
  fill_in(received, *queue_pairs_[qp].reliability->responder->grants(),
          static_cast<std::uint32_t>(at - node.receivers.begin()));
  node.receiver_control->on_arrival(received);
  grant_what_is_due(queue_pairs_[qp].node);
}

void Engine::grant_what_is_due(std::uint32_t host) {
  Node& node = nodes_[host];
  const auto deadline = [&] {
    return node.receiver_control ? node.receiver_control->deadline() : node.credits->deadline();
  };
  while (deadline() <= now_) {
    node.receiver_control ? ask_receiver_control(node) : give_turn(node);
  }
  if (timers_[node.credit_timer].deadline != deadline()) set_timer(node.credit_timer, deadline());
}

void Engine::ask_receiver_control(Node& node) {
  const auto connections = static_cast<std::uint32_t>(node.receivers.size());
  const rogue::Grant grant = node.receiver_control->on_turn(now_, connections);
  if (grant.connection == rogue::kNobody) return;
  const QueuePair& receiver = queue_pairs_[node.receivers[grant.connection]];
  CreditGrants& grants = *receiver.reliability->responder->grants();
  node.receiver_control->check_bytes(grant.bytes, room_of(grants));
  if (receiver.state != QueuePairState::kReadyToSend) return;
  grants.give({grant.bytes});
  receiver.reliability->responder->tell_credit();
  send_acknowledgements(node.receivers[grant.connection], {});
}

void Engine::give_turn(Node& node) {
  const auto [qp, is_idle] = node.credits->take();
  const QueuePair& receiver = queue_pairs_[qp];
  if (receiver.state != QueuePairState::kReadyToSend) return;
  CreditGrants& grants = *receiver.reliability->responder->grants();
  const std::int64_t quanta = grants.grant(is_idle);
  receiver.reliability->responder->tell_credit();
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
