// What can be asked between two instants: first every link is caught up.
#include "engine/audit.h"
#include "engine/counters.h"
#include "engine/departures.h"
#include "engine/waits.h"

namespace simulator {

void Engine::catch_up_link(std::uint32_t link) {
  catch_up(world_.ports[link]);
  set_slot(link);
}

void Engine::catch_up_all() {
  if (!is_complete_) return;
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) catch_up_link(link);
}

QueuePairFigures Engine::queue_pair_figures(std::uint32_t qp) {
  const Sender& sender = world_.senders[qp];
  catch_up_link(sender.link);
  return {.state = sender.state,
          .retransmitted = world_.counters_of(qp).retransmitted_bytes,
          .delivered = world_.delivered_by(qp),
          .posted = world_.posted_by(qp),
          .delivered_messages = world_.messages_delivered_by(qp),
          .control_rate = controls_.rate_of(qp)};
}

// When the last packet of a verb first left, while the verb is not done. Then it is the host software's
// business.
Picoseconds Engine::left_nic(std::uint32_t qp, std::uint64_t wr_id) {
  catch_up_link(world_.senders[qp].link);
  return world_.with_requester(qp, [&](const auto& requester) { return requester.left_nic(wr_id); });
}

void Engine::add_open_pauses(PauseState::Records& records) const {
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) {
    const Port& port = world_.ports[link];
    if (port.has(Port::kClassed)) world_.classes_of(port).pauses->add_open(now_, link, records);
  }
}

std::vector<Counter> Engine::counters() {
  catch_up_all();
  return counters_of(world_, controls_);
}

std::vector<Wait> Engine::waits() {
  catch_up_all();
  return waits_in(world_, now_);
}

Statistics Engine::statistics() const {
  return {.packet_hops = packet_hops_,
          .events = events_,
          .packets_live = world_.pool.live(),
          .packets_pool_max = world_.pool.peak(),
          .verbs_done = recorder_.verbs_done()};
}

void Engine::check_invariants() {
  catch_up_all();
  Audit(world_, now_).run();
  reliabilities_.check_trimmed();
  credits_.check();
  datagrams_.check(now_);
}

}  // namespace simulator
