// READs: the responder's NIC sends the responses in turns with its own verbs, paced by its own limiter.
#include "engine/departures.h"

namespace simulator {

void Engine::on_read_request(PacketIndex index) {
  const Packet packet = world_.pool[index];
  const PacketDetails details = world_.details[index];
  Sender& sender = world_.senders[packet.qp];
  const auto responses = static_cast<std::uint32_t>(sender.requester.packets_of(details.length));
  const Reply reply = world_.receivers[packet.qp].responder.on_read(packet.psn, responses);
  if (reply.kind == ReplyKind::kNak) return turn_into_reply(index, reply);
  world_.pool.free(index);
  if (reply.kind == ReplyKind::kNone) return;
  change_nic(sender.link, [&] {
    world_.extras_of(packet.qp).responses.add_read(packet.psn, responses, details, now_ - details.left);
    sender.has_special = true;
    reconsider(packet.qp);
    return true;
  });
}

// Replies keep the order of their requests: while responses to a READ wait, so does what comes after them.
// Returns false if none waits any more.
bool Engine::reply_after_responses(PacketIndex index, const Reply& reply) {
  const std::uint32_t qp = world_.pool[index].qp;
  catch_up_host(world_.ports[world_.senders[qp].link]);
  if (!world_.senders[qp].has_special) return false;
  world_.extras_of(qp).responses.add_reply(reply);
  world_.pool.free(index);
  return true;
}

void Engine::on_read_response(PacketIndex index) {
  const Packet packet = world_.pool[index];
  const PacketDetails details = world_.details[index];
  world_.pool.free(index);
  ++world_.receivers[packet.qp].received_replies;
  if (!world_.senders[packet.qp].is_operational()) return;
  bool is_accepted = false;
  on_progress(packet.qp, [&](RcRequester& requester, const auto& on_done) {
    return requester.on_response(packet.psn, world_.payload_of(packet), details.left, now_, is_accepted,
                                 on_done);
  });
  if (!is_accepted) return;
  check_delivery(world_.senders[packet.qp].peer);
  memories_.land(packet.qp, VerbKind::kRead, details, world_.payload_of(packet), now_);
}

void Engine::forget_responses(std::uint32_t qp) {
  if (!world_.senders[qp].has_special) return;
  world_.extras_of(qp).responses.clear();
  world_.senders[qp].has_special = false;
}

}  // namespace simulator
