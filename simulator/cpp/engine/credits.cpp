#include "engine/credits.h"

#include <optional>

#include "engine/engine.h"

namespace simulator {

void Credits::add(std::uint32_t qp) {
  Sender& sender = world_.senders[qp];
  sender.has_credits = true;
  if (hosts_.contains(sender.nic)) return;
  const std::uint32_t timer = engine_.timers_.create(TimerKind::kCredit, sender.nic);
  hosts_.emplace(sender.nic, Host{.pacer = {}, .timer = timer});
}

// A packet came that may want a turn for its queue pair.
void Credits::follow(std::uint32_t qp) {
  if (!world_.reliabilities[qp].responder->grants()->take_wish()) return;
  hosts_.at(world_.senders[qp].nic).pacer.want(qp);
  grant_what_is_due(world_.senders[qp].nic);
}

void Credits::on_timer(std::uint32_t nic) {
  grant_what_is_due(nic);
}

void Credits::grant_what_is_due(std::uint32_t nic) {
  Host& host = hosts_.at(nic);
  while (host.pacer.deadline() <= engine_.now_) give_turn(host);
  if (host.pacer.deadline() == kNever) return engine_.timers_.cancel(host.timer);
  engine_.timers_.set(host.timer, host.pacer.deadline());
  engine_.set_timer_slot();
}

void Credits::give_turn(Host& host) {
  const auto [qp, is_idle] = host.pacer.take();
  const Sender& sender = world_.senders[qp];
  if (!sender.is_operational()) return;
  Responder& responder = *world_.reliabilities[qp].responder;
  const CreditGrants& grants = *responder.grants();
  const std::int64_t quanta = responder.grant(is_idle);
  engine_.reliabilities_.send_acknowledgements(qp, std::nullopt);
  if (grants.is_owed()) {
    host.pacer.want(qp);
  } else if (!is_idle || grants.may_be_ahead()) {
    host.pacer.wait_for_idle_moments(qp);
  }
  const double ps_per_byte = world_.speeds[world_.ports[sender.link].speed].ps_per_byte;
  host.pacer.wait_until(engine_.now_ + grants.pause_after(quanta, ps_per_byte));
}

std::int64_t Credits::rivals_of(const Sender& sender) const {
  const Nic& nic = world_.nics[sender.nic];
  return static_cast<std::int64_t>(nic.ready.size() + nic.paused.size());
}

// What was spent or void had been granted; what was told had been, too.
void Credits::check() const {
  for (std::uint32_t qp = 0; qp < world_.senders.size(); ++qp) {
    const Sender& sender = world_.senders[qp];
    if (!sender.has_credits) continue;
    const CreditAccount& account = *world_.reliabilities[qp].requester->account();
    SIM_CHECK(account.is_balanced(), engine_.now_, queue_pair_name(qp),
              "credit that was granted differs from credit accounted for");
    const CreditGrants& grants = *world_.reliabilities[sender.peer].responder->grants();
    SIM_CHECK(account.granted() <= grants.granted(), engine_.now_, queue_pair_name(qp),
              "more credit was told than was granted");
  }
}

}  // namespace simulator
