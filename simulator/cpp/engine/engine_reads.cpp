// READs: the responder's NIC sends the responses in turns with its own verbs, paced by its own limiter.
#include "engine/departures.h"

namespace simulator {

void Engine::on_read_request(PacketIndex index) {
  const Packet packet = pool_[index];
  PacketDetails details = details_of(index);
  Sender& sender = senders_[packet.qp];
  const auto responses = static_cast<std::uint32_t>(sender.requester.packets_of(details.length));
  const Reply answer = receivers_[packet.qp].responder.on_read(packet.psn, responses);
  if (answer.kind == ReplyKind::kNak) return reply(index, answer);
  pool_.free(index);
  if (answer.kind == ReplyKind::kNone) return;
  details.left = now_ - details.left;
  change_nic(sender.link, [&] {
    extras(packet.qp).responses.add_read(packet.psn, responses, details);
    sender.has_special = true;
    reconsider(packet.qp);
    return true;
  });
}

// Replies keep the order of their requests: while responses to a READ wait, so does what comes after them.
// Returns false if none waits any more.
bool Engine::reply_after_responses(PacketIndex index, const Reply& answer) {
  const std::uint32_t qp = pool_[index].qp;
  catch_up_host(ports_[senders_[qp].link]);
  if (!senders_[qp].has_special) return false;
  extras(qp).responses.add_reply(answer);
  pool_.free(index);
  return true;
}

void Engine::on_read_response(PacketIndex index) {
  const Packet packet = pool_[index];
  const PacketDetails details = details_of(index);
  pool_.free(index);
  ++receivers_[packet.qp].received_replies;
  if (!senders_[packet.qp].is_operational()) return;
  bool is_accepted = false;
  on_progress(packet.qp, [&](RcRequester& requester, const auto& on_done) {
    return requester.on_response(packet.psn, payload_of(packet), details.left, now_, is_accepted, on_done);
  });
  if (!is_accepted) return;
  memories_.land(packet.qp, queue_pair_number(packet.qp), true, details, payload_of(packet), now_);
}

void Engine::forget_responses(std::uint32_t qp) {
  if (!senders_[qp].has_special) return;
  extras(qp).responses.clear();
  senders_[qp].has_special = false;
}

}  // namespace simulator
