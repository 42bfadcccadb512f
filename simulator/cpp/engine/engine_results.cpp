// Samplers, counters and the invariants: everything that looks at the whole network at one instant.
#include <algorithm>

#include "engine/engine.h"

namespace simulator {

void Engine::on_throughput_timer() {
  const std::int64_t interval_ns = throughput_interval_.value / kPicosecondsPerNanosecond;
  const std::int64_t now_ns = now_.value / kPicosecondsPerNanosecond;
  for (std::uint32_t qp = 0; qp < senders_.size(); ++qp) {
    if (!with_requester(qp, [](const auto& requester) { return requester.has_ever_posted(); })) continue;
    const Bytes delivered = delivered_by(qp);
    const Bytes since = delivered - delivered_sampled_[qp];
    delivered_sampled_[qp] = delivered;
    recorder_.throughput.add({queue_pair_number(qp), now_ns, interval_ns, since.value});
  }
  timers_.set(throughput_timer_, now_ + throughput_interval_);
}

void Engine::on_queue_timer() {
  const std::int64_t now_ns = now_.value / kPicosecondsPerNanosecond;
  catch_up_all();
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    if (!ports_[link].has(Port::kOwnerIsHost)) sample_queue(link, now_ns);
  }
  timers_.set(queue_timer_, now_ + queue_interval_);
}

void Engine::sample_queue(std::uint32_t link, std::int64_t now_ns) {
  Port& port = ports_[link];
  if (port.has(Port::kClassed)) {
    for_each_priority(priorities_, [&](std::uint32_t priority) {
      ClassQueue& queue = classes_of(port).queues[priority];
      ClassCounters::OfPriority& counters = classes_of(port).counters->priorities[priority];
      const std::int64_t drops = counters.dropped_packets - counters.dropped_packets_sampled;
      counters.dropped_packets_sampled = counters.dropped_packets;
      const std::int64_t marks = counters.marked_packets - counters.marked_packets_sampled;
      counters.marked_packets_sampled = counters.marked_packets;
      recorder_.queues.add({link, priority, now_ns, queue.bytes.value, queue.bytes_max.value, drops, marks});
      queue.bytes_max = queue.bytes;
    });
    return;
  }
  LinkRecord& record = links_[link];
  const std::int64_t drops = record.dropped_packets - record.dropped_packets_sampled;
  record.dropped_packets_sampled = record.dropped_packets;
  recorder_.queues.add({link, 0, now_ns, port.waiting_bytes.value, port.waiting_bytes_max.value, drops, 0});
  port.waiting_bytes_max = port.waiting_bytes;
}

void Engine::add_open_pauses(PauseState::Records& records) {
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    const Port& port = ports_[link];
    if (port.has(Port::kClassed)) classes_of(port).pauses->add_open(now_, link, records);
  }
}

void Engine::add_class_counters(std::uint32_t link, std::vector<Counter>& result) const {
  const LinkRecord& record = links_[link];
  const std::string& node = nodes_[record.from].name;
  const ClassedPort& classes = classes_[link];
  if (has_marking(record.from)) {
    std::int64_t marked_packets = 0;
    for (const auto& counters : classes.counters->priorities) marked_packets += counters.marked_packets;
    result.push_back({node, port_name(link), "marked_packets", marked_packets});
  }
  if (!has_flow_control(record.from)) return;
  result.push_back({node, port_name(link), "pause_frames", classes.counters->pause_frames});
  result.push_back({node, port_name(link), "lossless_drops", classes.counters->lossless_drops});
  result.push_back({node, port_name(link), "watchdog_fired", classes.counters->watchdog_fired});
  result.push_back({node, port_name(link), "headroom_used_max_bytes",
                    ingresses_[link].headroom_used_max});
}

Bytes Engine::delivered_by(std::uint32_t qp) const {
  const Sender& sender = senders_[qp];
  if (sender.has_reliability) return reliabilities_[sender.peer].responder->delivered();
  const Bytes delivered = receivers_[sender.peer].responder.delivered() + sender.requester.read_bytes();
  const QueuePairExtras* const extras = extras_of(sender.peer);
  return extras == nullptr ? delivered : delivered + extras->unreliable.delivered();
}

QueuePairFigures Engine::queue_pair_figures(std::uint32_t qp) {
  const Sender& sender = senders_[qp];
  catch_up_link(sender.link);
  const bool is_controlled = sender.is_controlled;
  return {.state = sender.state,
          .retransmitted = counters_of(qp).retransmitted_bytes,
          .delivered = delivered_by(qp),
          .posted = posted_by(qp),
          .delivered_messages =
              extras_of(sender.peer) ? extras_of(sender.peer)->unreliable.delivered_messages() : 0,
          .control_rate = is_controlled ? controlled_[qp].controller->rate() : BitsPerSecond{}};
}

std::string Engine::port_name(std::uint32_t link) const {
  return nodes_[links_[link].from].name + "->" + nodes_[links_[link].to].name;
}

Bytes Engine::received_bytes(std::uint32_t link) const {
  Bytes received = ports_[link].sent_bytes - links_[link].lost_bytes;
  for (PacketIndex at = ports_[link].in_flight.head; at != kNoPacket; at = pool_[at].next) {
    received.value -= pool_[at].frame_bytes;
  }
  return received;
}

std::vector<Counter> Engine::counters() {
  catch_up_all();
  std::vector<Counter> result;
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    const std::string& node = nodes_[links_[link].from].name;
    const std::string port = port_name(link);
    result.push_back({node, port, "tx_bytes", ports_[link].sent_bytes.value});
    result.push_back({node, port, "rx_bytes", received_bytes(link ^ 1).value});
    result.push_back({node, port, "lost_packets", links_[link].lost_packets});
    if (ports_[link].has(Port::kRouteEnds)) {
      result.push_back({node, port, "expired_packets", links_[link].expired_packets});
      result.push_back({node, port, "stray_packets", links_[link].stray_packets});
    }
    if (!nodes_[links_[link].from].is_host)
      result.push_back({node, port, "drops", links_[link].dropped_packets});
    if (has_pool(links_[link].from)) add_class_counters(link, result);
  }
  for (const Sender& sender : senders_) {
    const auto qp = static_cast<std::uint32_t>(&sender - senders_.data());
    const RequesterCounters counters = counters_of(qp);
    const std::string& node = nics_[sender.nic].name;
    const std::string port = port_name(sender.link);
    const std::string prefix = "qp" + std::to_string(queue_pair_number(qp)) + ".";
    result.push_back({node, port, prefix + "retransmitted_packets",
                      static_cast<std::int64_t>(counters.retransmitted_packets)});
    result.push_back({node, port, prefix + "naks", static_cast<std::int64_t>(counters.naks)});
    result.push_back({node, port, prefix + "timeouts", static_cast<std::int64_t>(counters.timeouts)});
    if (sender.is_controlled) {
      const ControlledQueuePair& controlled = controlled_[qp];
      result.push_back({node, port, prefix + "notifications_sent", controlled.notifications_sent});
      result.push_back({node, port, prefix + "notifications_received", controlled.notifications_received});
    }
    if (!sender.is_unreliable) continue;
    const std::uint64_t messages = queue_pair_figures(qp).delivered_messages;
    result.push_back({node, port, prefix + "delivered_messages", static_cast<std::int64_t>(messages)});
  }
  return result;
}

Statistics Engine::statistics() const {
  return {.packet_hops = packet_hops_,
          .events = events_,
          .packets_live = pool_.live(),
          .packets_pool_max = pool_.peak(),
          .verbs_done = recorder_.verbs_done()};
}

void Engine::check_invariants() {
  catch_up_all();
  check_buffers();
  check_accounts();
  check_inputs();
  check_queue_pairs();
  check_datagrams();
}

Bytes Engine::waiting_bytes_of(const Port& port) const {
  if (!port.has(Port::kClassed)) return port.waiting_bytes;
  Bytes waiting;
  for (const ClassQueue& queue : classes_of(port).queues) waiting += queue.bytes;
  return waiting;
}

void Engine::check_buffers() const {
  PacketIndex stored = 0;
  std::vector<std::int64_t> used(switches_.size(), 0);
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    const Port& port = ports_[link];
    std::int64_t waiting_bytes = 0;
    for (PacketIndex at = port.waiting.head; at != kNoPacket; at = pool_[at].next, ++stored) {
      waiting_bytes += pool_[at].frame_bytes;
    }
    for (std::uint32_t priority = 0; port.has(Port::kClassed) && priority < kPriorities; ++priority) {
      const ClassedPort& classes = classes_of(port);
      std::int64_t bytes = 0;
      classes.for_each_waiting(pool_, priority, [&](PacketIndex at) {
        bytes += pool_[at].frame_bytes;
        ++stored;
      });
      SIM_CHECK(bytes == classes.queues[priority].bytes.value, now_, port_name(link),
                "waiting bytes of a priority differ from the packets that wait");
      waiting_bytes += bytes;
    }
    for (PacketIndex at = port.in_flight.head; at != kNoPacket; at = pool_[at].next, ++stored) {
      SIM_CHECK(pool_[at].arrival >= now_, now_, port_name(link), "a packet in flight should have arrived");
    }
    SIM_CHECK(waiting_bytes == waiting_bytes_of(port).value, now_, port_name(link),
              "waiting bytes differ from the packets that wait");
    if (!port.has(Port::kOwnerIsHost)) used[port.owner] += waiting_bytes;
  }
  SIM_CHECK(stored == pool_.live(), now_, "packet pool",
            "live packets differ from the packets on links and in queues");
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    const Switch& element = switches_[i];
    SIM_CHECK(!element.is_bounded || element.used == used[i], now_, "switch " + std::to_string(i),
              "charged bytes differ from the packets that wait");
    SIM_CHECK(!element.is_bounded || element.used <= element.buffer, now_, "switch " + std::to_string(i),
              "more bytes wait than the buffer holds");
  }
}

// Each frame that waits in a switch with flow control is charged once.
void Engine::check_accounts() const {
  std::vector<std::int64_t> shared(switches_.size(), 0);
  std::vector<std::int64_t> charged(switches_.size(), 0);
  std::vector<std::int64_t> waiting(switches_.size(), 0);
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    const Port& port = ports_[link];
    if (!has_pool(links_[link].from)) continue;
    const IngressAccount& account = ingresses_[link];
    waiting[port.owner] += waiting_bytes_of(port).value;
    for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
      shared[port.owner] += account.shared[priority];
      charged[port.owner] += account.shared[priority] + account.headroom[priority];
      SIM_CHECK(account.shared[priority] >= 0 && account.headroom[priority] <= account.headroom_size, now_,
                port_name(link), "the account of an ingress is out of bounds");
      SIM_CHECK(account.headroom[priority] == 0 || has_priority(account.pausing, priority), now_,
                port_name(link), "an ingress uses its headroom, but the other end is not told to pause");
    }
  }
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    if (switches_[i].is_input_queued) continue;  // see check_inputs
    const PausePool& pool = switches_[i].pool;
    SIM_CHECK(pool.used() == shared[i] && charged[i] == waiting[i] && pool.used() <= pool.size(), now_,
              "switch " + std::to_string(i), "charged bytes differ from the packets that wait");
  }
}

// What has come from a queue pair to the other one, accepted or not.
std::uint64_t Engine::packets_taken_from(std::uint32_t qp) const {
  const std::uint32_t peer = senders_[qp].peer;
  if (senders_[qp].has_reliability) return reliabilities_[peer].responder->packets();
  const std::uint64_t reliable = receivers_[peer].responder.packets();
  const QueuePairExtras* const extras = extras_of(peer);
  return extras == nullptr ? reliable : reliable + extras->unreliable.packets();
}

// Sent = accepted + discarded + missing + still under way, for the data and the replies of each queue pair.
void Engine::check_queue_pairs() const {
  std::vector<std::uint64_t> packets(senders_.size(), 0);
  std::vector<std::uint64_t> replies(senders_.size(), 0);
  const auto count = [&](PacketIndex at) {
    if (pool_[at].kind >= PacketKind::kDatagram) return;  // belongs to no verb
    ++(is_reply(pool_[at].kind) ? replies : packets)[senders_[pool_[at].qp].peer];
  };
  const auto count_all = [&](const PacketFifo& queue) {
    for (PacketIndex at = queue.head; at != kNoPacket; at = pool_[at].next) count(at);
  };
  for (const Port& port : ports_) {
    count_all(port.waiting);
    for (std::uint32_t priority = 0; port.has(Port::kClassed) && priority < kPriorities; ++priority) {
      classes_of(port).for_each_waiting(pool_, priority, count);
    }
    count_all(port.in_flight);
  }
  for (std::uint32_t qp = 0; qp < senders_.size(); ++qp) {
    const Sender& sender = senders_[qp];
    const std::string name = queue_pair_name(qp);
    const std::uint64_t sent =
        with_requester(qp, [](const auto& requester) { return requester.sent_packets(); });
    SIM_CHECK(sent == packets_taken_from(qp) + sender.missing_packets + packets[qp], now_, name,
              "packets sent differ from packets accounted for");
    SIM_CHECK(receivers_[qp].sent_replies ==
                  receivers_[sender.peer].received_replies + sender.missing_replies + replies[qp],
              now_, name, "replies sent differ from replies accounted for");
    if (sender.state == QueuePairState::kError || sender.has_been_reset) continue;
    if (senders_[sender.peer].has_been_reset || sender.is_unreliable) continue;
    const bool is_ahead = sender.has_reliability
                              ? reliabilities_[qp].requester->acknowledged() >
                                    reliabilities_[sender.peer].responder->expected()
                              : sender.requester.unacknowledged_psn() >
                                    receivers_[sender.peer].responder.expected_psn();
    SIM_CHECK(!is_ahead, now_, name, "more is acknowledged than was accepted");
    const bool is_idle = with_requester(qp, [](const auto& requester) { return requester.is_idle(); });
    SIM_CHECK(!is_idle || delivered_by(qp) == posted_by(qp), now_, name,
              "everything is acknowledged, but not all bytes were delivered");
  }
}

void Engine::check_datagrams() const {
  const std::uint64_t found = datagrams_.received + datagrams_.missing + datagrams_.under_way.size();
  SIM_CHECK(datagrams_.sent == found, now_, "datagrams", "datagrams sent differ from those accounted for");
}

}  // namespace simulator
