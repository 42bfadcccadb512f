// What must hold at any instant at which all links have been caught up.
#include "engine/audit.h"

#include <string>
#include <vector>

#include "base/check.h"

namespace simulator {

void Audit::run() const {
  check_buffers();
  check_accounts();
  check_inputs();
  check_queue_pairs();
}

void Audit::check_buffers() const {
  PacketIndex stored = 0;
  std::vector<std::int64_t> used(world_.switches.size(), 0);
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) {
    const Port& port = world_.ports[link];
    std::int64_t waiting_bytes = 0;
    for (PacketIndex at = port.waiting.head; at != kNoPacket; at = world_.pool[at].next, ++stored) {
      waiting_bytes += world_.pool[at].frame_bytes;
    }
    for (std::uint32_t priority = 0; port.has(Port::kClassed) && priority < kPriorities; ++priority) {
      const ClassedPort& classes = world_.classes_of(port);
      std::int64_t bytes = 0;
      classes.for_each_waiting(world_.pool, priority, [&](PacketIndex at) {
        bytes += world_.pool[at].frame_bytes;
        ++stored;
      });
      SIM_CHECK(bytes == classes.queues[priority].bytes.value, now_, world_.port_name(link),
                "waiting bytes of a priority differ from the packets that wait");
      waiting_bytes += bytes;
    }
    for (PacketIndex at = port.in_flight.head; at != kNoPacket; at = world_.pool[at].next, ++stored) {
      SIM_CHECK(world_.pool[at].arrival >= now_, now_, world_.port_name(link),
                "a packet in flight should have arrived");
    }
    SIM_CHECK(waiting_bytes == world_.waiting_bytes_of(port).value, now_, world_.port_name(link),
              "waiting bytes differ from the packets that wait");
    if (!port.has(Port::kOwnerIsHost)) used[port.owner] += waiting_bytes;
  }
  SIM_CHECK(stored == world_.pool.live(), now_, "packet pool",
            "live packets differ from the packets on links and in queues");
  for (std::size_t i = 0; i < world_.switches.size(); ++i) {
    const Switch& element = world_.switches[i];
    SIM_CHECK(!element.is_bounded || element.used == used[i], now_, "switch " + std::to_string(i),
              "charged bytes differ from the packets that wait");
    SIM_CHECK(!element.is_bounded || element.used <= element.buffer, now_, "switch " + std::to_string(i),
              "more bytes wait than the buffer holds");
  }
}

// Each frame that waits in a switch is charged once, to the account of its ingress if its priority is lossless.
void Audit::check_accounts() const {
  std::vector<std::int64_t> shared(world_.switches.size(), 0);
  std::vector<std::int64_t> charged(world_.switches.size(), 0);
  std::vector<std::int64_t> waiting(world_.switches.size(), 0);
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) {
    const Port& port = world_.ports[link];
    if (!world_.has_classes(world_.links[link].from)) continue;
    waiting[port.owner] += world_.waiting_bytes_of(port).value;
    const IngressAccount& account = world_.ingresses[link];
    for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
      const bool has_account = world_.switches[port.owner].shared_buffer.is_lossless(priority);
      const std::int64_t charged_bytes =
          has_account ? account.shared[priority] : world_.classes_of(port).queues[priority].bytes.value;
      shared[port.owner] += charged_bytes;
      charged[port.owner] += charged_bytes + account.headroom[priority];
      SIM_CHECK(account.shared[priority] >= 0 && account.headroom[priority] <= account.headroom_size, now_,
                world_.port_name(link), "the account of an ingress is out of bounds");
      SIM_CHECK(account.headroom[priority] == 0 || has_priority(account.pausing, priority), now_,
                world_.port_name(link),
                "an ingress uses its headroom, but the other end is not told to pause");
    }
  }
  for (std::size_t i = 0; i < world_.switches.size(); ++i) {
    if (world_.switches[i].is_input_queued) continue;  // see check_inputs
    const SharedBuffer& buffer = world_.switches[i].shared_buffer;
    SIM_CHECK(buffer.used() == shared[i] && charged[i] == waiting[i] && buffer.used() <= buffer.size(), now_,
              "switch " + std::to_string(i), "charged bytes differ from the packets that wait");
  }
}

// Each input is charged for the frames that came in over its link and wait, and for nothing else.
void Audit::check_inputs() const {
  std::vector<std::int64_t> waiting(world_.ports.size(), 0);
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) {
    if (!world_.is_input_queued(world_.links[link].from)) continue;
    for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
      world_.classes[link].for_each_waiting(world_.pool, priority, [&](PacketIndex at) {
        waiting[world_.pool[at].ingress] += world_.pool[at].frame_bytes;
      });
    }
  }
  for (std::uint32_t link = 0; link < world_.ports.size(); ++link) {
    if (!world_.is_input_queued(world_.links[link].from)) continue;
    const IngressAccount& account = world_.ingresses[link];
    const SharedBuffer& buffer = world_.switches[world_.ports[link].owner].inputs[account.input];
    std::int64_t headroom = 0;
    for (const std::int64_t bytes : account.headroom) headroom += bytes;
    SIM_CHECK(buffer.used() + headroom == waiting[link] && buffer.used() <= buffer.size(), now_,
              world_.port_name(link),
              "an input is charged for other bytes than those that came in over it and wait");
  }
}

// Sent = accepted + discarded + missing + still under way, for the data and the replies of each queue pair.
void Audit::check_queue_pairs() const {
  std::vector<std::uint64_t> packets(world_.senders.size(), 0);
  std::vector<std::uint64_t> replies(world_.senders.size(), 0);
  const auto count = [&](PacketIndex at) {
    if (world_.pool[at].kind >= PacketKind::kDatagram) return;  // belongs to no verb
    ++(is_reply(world_.pool[at].kind) ? replies : packets)[world_.senders[world_.pool[at].qp].peer];
  };
  const auto count_all = [&](const PacketFifo& queue) {
    for (PacketIndex at = queue.head; at != kNoPacket; at = world_.pool[at].next) count(at);
  };
  for (const Port& port : world_.ports) {
    count_all(port.waiting);
    for (std::uint32_t priority = 0; port.has(Port::kClassed) && priority < kPriorities; ++priority) {
      world_.classes_of(port).for_each_waiting(world_.pool, priority, count);
    }
    count_all(port.in_flight);
  }
  for (std::uint32_t qp = 0; qp < world_.senders.size(); ++qp) {
    const Sender& sender = world_.senders[qp];
    const std::string name = queue_pair_name(qp);
    const std::uint64_t sent =
        world_.with_requester(qp, [](const auto& requester) { return requester.sent_packets(); });
    SIM_CHECK(sent == world_.packets_taken_from(qp) + sender.missing_packets + packets[qp], now_, name,
              "packets sent differ from packets accounted for");
    SIM_CHECK(world_.receivers[qp].sent_replies ==
                  world_.receivers[sender.peer].received_replies + sender.missing_replies + replies[qp],
              now_, name, "replies sent differ from replies accounted for");
    if (sender.state == QueuePairState::kError || sender.has_been_reset) continue;
    if (world_.senders[sender.peer].has_been_reset || sender.is_unreliable) continue;
    const bool is_ahead = sender.has_reliability ? world_.reliabilities[qp].requester->acknowledged() >
                                                       world_.reliabilities[sender.peer].responder->expected()
                                                 : sender.requester.unacknowledged_psn() >
                                                       world_.receivers[sender.peer].responder.expected_psn();
    SIM_CHECK(!is_ahead, now_, name, "more is acknowledged than was accepted");
    const bool is_idle = world_.with_requester(qp, [](const auto& requester) { return requester.is_idle(); });
    SIM_CHECK(!is_idle || world_.delivered_by(qp) == world_.posted_by(qp), now_, name,
              "everything is acknowledged, but not all bytes were delivered");
  }
}

}  // namespace simulator
