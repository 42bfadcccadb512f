// Invariants, counters and waiting ports of a world whose links have all caught up.
#include "engine/inspection.h"

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
  stored += static_cast<PacketIndex>(world_.held.size());
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
                world_.port_name(link), "an ingress uses its headroom, but the other end is not paused");
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

// Sent = accepted + discarded + missing + in flight, for the data and the replies of each queue pair.
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
  for (const PacketIndex at : world_.held) count(at);
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

namespace {

void add_classes(const World& world, std::uint32_t link, std::vector<Counter>& result) {
  const LinkRecord& record = world.links[link];
  const ClassCounters& counters = *world.classes[link].counters;
  const auto add = [&](const char* name, std::int64_t value) { result.push_back({link, 0, name, value}); };
  if (world.has_marking(record.from)) {
    std::int64_t marked_packets = 0;
    for (const auto& priority : counters.priorities) marked_packets += priority.marked_packets;
    add("marked_packets", marked_packets);
  }
  if (counters.trimming) {
    add("trimmed_packets", counters.trimmed_packets);
    add("trimmed_bytes", counters.trimmed.value);
  }
  if (!world.has_flow_control(record.from)) return;
  add("pause_frames", counters.pause_frames);
  add("lossless_drops", counters.lossless_drops);
  add("watchdog_fired", counters.watchdog_fired);
  add("headroom_used_max_bytes", world.ingresses[link].headroom_used_max);
}

void add_port(const World& world, std::uint32_t link, std::vector<Counter>& result) {
  const LinkRecord& record = world.links[link];
  const auto add = [&](const char* name, std::int64_t value) { result.push_back({link, 0, name, value}); };
  add("tx_bytes", world.ports[link].sent_bytes.value);
  add("rx_bytes", world.received_bytes(reverse_of(link)).value);
  add("lost_packets", record.lost_packets);
  if (world.ports[link].has(Port::kRouteEnds)) {
    add("expired_packets", record.expired_packets);
    add("stray_packets", record.stray_packets);
  }
  if (!world.nodes[record.from].is_host) add("drops", record.dropped_packets);
  if (world.has_classes(record.from)) add_classes(world, link, result);
}

void add_queue_pair(const World& world, const NicControls& controls, std::uint32_t qp,
                    std::vector<Counter>& result) {
  const Sender& sender = world.senders[qp];
  const RequesterCounters counters = world.counters_of(qp);
  const auto add = [&](const char* name, auto value) {
    result.push_back({sender.link, queue_pair_number(qp), name, static_cast<std::int64_t>(value)});
  };
  add("retransmitted_packets", counters.retransmitted_packets);
  add("naks", counters.naks);
  add("timeouts", counters.timeouts);
  if (controls.has(qp)) {
    add("cnps_sent", controls.of(qp).cnps_sent);
    add("cnps_received", controls.of(qp).cnps_received);
  }
  if (sender.is_unreliable) add("delivered_messages", world.messages_delivered_by(qp));
}

}  // namespace

std::vector<Counter> counters_of(const World& world, const NicControls& controls) {
  std::vector<Counter> result;
  for (std::uint32_t link = 0; link < world.ports.size(); ++link) add_port(world, link, result);
  for (std::uint32_t qp = 0; qp < world.senders.size(); ++qp) add_queue_pair(world, controls, qp, result);
  return result;
}

namespace {

// Ports of the far end where frames wait that came over this link.
std::vector<std::uint32_t> ports_behind(const World& world, std::uint32_t link, std::uint32_t priority) {
  std::vector<std::uint32_t> behind;
  const Node& far = world.nodes[world.links[link].to];
  if (far.is_host) return behind;
  for (const std::uint32_t next : world.switches[far.index].links) {
    bool is_from_link = false;
    world.classes[next].for_each_waiting(world.pool, priority, [&](PacketIndex at) {
      is_from_link |= world.pool[at].ingress == reverse_of(link);
    });
    if (is_from_link) behind.push_back(next);
  }
  return behind;
}

}  // namespace

std::vector<Wait> waits_in(const World& world, Picoseconds now) {
  std::vector<Wait> waits;
  for (std::uint32_t link = 0; link < world.ports.size(); ++link) {
    const Port& port = world.ports[link];
    if (!port.has(Port::kClassed)) continue;
    const ClassedPort& classes = world.classes_of(port);
    PriorityMask waiting = classes.waiting;
    if (port.has(Port::kOwnerIsHost)) {
      for (const std::uint32_t qp : world.nics[port.owner].paused)
        waiting |= mask_of(world.senders[qp].priority());
    }
    for_each_priority(waiting, [&](std::uint32_t priority) {
      if (classes.pauses->is_paused(priority, now))
        waits.push_back({link, priority, ports_behind(world, link, priority)});
    });
  }
  return waits;
}

}  // namespace simulator
