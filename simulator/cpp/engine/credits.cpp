// Credit that receivers grant: whose turn it is, and what the grant says.
#include "engine/credits.h"

#include <optional>

#include "engine/engine.h"
#include "reliability/receiver_arguments.h"

namespace simulator {

void Credits::add(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  Sender& sender = world_.senders[qp];
  sender.has_credits = true;
  const auto [found, is_new] = hosts_.try_emplace(sender.nic);
  Host& host = found->second;
  if (is_new) {
    host.timer = engine_.timers_.create(TimerKind::kCredit, sender.nic);
    if (configuration.receiver_maker) {
      const Port& port = world_.ports[sender.link];
      host.control =
          configuration.receiver_maker(host_of(world_.seed, world_.nodes[world_.links[sender.link].from].name,
                                               world_.speeds[port.speed].rate, configuration));
    }
  }
  if (!host.control) return;
  numbers_.resize(qp + 1);
  numbers_[qp] = static_cast<std::uint32_t>(host.connections.size());
  host.connections.push_back(qp);
}

// A packet came that may want a turn for its queue pair.
void Credits::on_arrival(std::uint32_t qp, std::optional<rogue::Received>& received) {
  CreditGrants& grants = *world_.reliabilities[qp].responder->grants();
  const std::uint32_t nic = world_.senders[qp].nic;
  if (received) {
    fill_in(*received, grants, numbers_[qp]);
    hosts_.at(nic).control->on_arrival(*received);
  } else {
    if (!grants.take_turn_request()) return;
    hosts_.at(nic).pacer.on_request(qp);
  }
  grant_what_is_due(nic);
}

void Credits::on_timer(std::uint32_t nic) {
  grant_what_is_due(nic);
}

void Credits::grant_what_is_due(std::uint32_t nic) {
  Host& host = hosts_.at(nic);
  while (host.deadline() <= engine_.now_) {
    host.control ? call_control(host) : grant_turn(host);
  }
  if (host.deadline() == kNever) return engine_.timers_.cancel(host.timer);
  engine_.timers_.set(host.timer, host.deadline());
  engine_.set_timer_slot();
}

// A turn of a control from outside.
void Credits::call_control(Host& host) {
  const auto connections = static_cast<std::uint32_t>(host.connections.size());
  const rogue::Grant grant = host.control->on_turn(engine_.now_, connections);
  if (grant.connection == rogue::kNobody) return;
  const std::uint32_t qp = host.connections[grant.connection];
  Responder& responder = *world_.reliabilities[qp].responder;
  host.control->check_bytes(grant.bytes, room_of(*responder.grants()));
  if (!world_.senders[qp].is_operational()) return;
  responder.grants()->grant_bytes({grant.bytes});
  responder.queue_credit_report();
  engine_.reliabilities_.send_acknowledgements(qp, std::nullopt);
}

void Credits::grant_turn(Host& host) {
  const auto [qp, is_idle] = host.pacer.take();
  const Sender& sender = world_.senders[qp];
  if (!sender.is_operational()) return;
  Responder& responder = *world_.reliabilities[qp].responder;
  CreditGrants& grants = *responder.grants();
  const std::int64_t quanta = grants.grant(is_idle);
  responder.queue_credit_report();
  engine_.reliabilities_.send_acknowledgements(qp, std::nullopt);
  if (grants.is_owed()) {
    host.pacer.on_request(qp);
  } else if (!is_idle || grants.may_be_ahead()) {
    host.pacer.queue_for_idle_turn(qp);
  }
  const double ps_per_byte = world_.speeds[world_.ports[sender.link].speed].ps_per_byte;
  host.pacer.wait_until(engine_.now_ + grants.pause_after(quanta, ps_per_byte));
}

std::int64_t Credits::rivals_of(const Sender& sender) const {
  const Nic& nic = world_.nics[sender.nic];
  return static_cast<std::int64_t>(nic.ready.size() + nic.paused.size());
}

// Spent and void credit was granted before, and so was reported credit.
void Credits::check() const {
  for (std::uint32_t qp = 0; qp < world_.senders.size(); ++qp) {
    const Sender& sender = world_.senders[qp];
    if (!sender.has_credits) continue;
    const CreditAccount& account = *world_.reliabilities[qp].requester->account();
    SIM_CHECK(account.is_balanced(), engine_.now_, queue_pair_name(qp),
              "credit that was granted differs from credit accounted for");
    const CreditGrants& grants = *world_.reliabilities[sender.peer].responder->grants();
    SIM_CHECK(account.granted() <= grants.granted(), engine_.now_, queue_pair_name(qp),
              "more credit was reported than granted");
  }
}

}  // namespace simulator
