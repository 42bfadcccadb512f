// Counters of ports and queue pairs, and ports that wait for each other.

#include "engine/counters.h"

#include <string>

namespace simulator {

// Counters of ports and queue pairs, for people.

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

void add_queue_pair(const World& world, const Controls& controls, std::uint32_t qp,
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

std::vector<Counter> counters_of(const World& world, const Controls& controls) {
  std::vector<Counter> result;
  for (std::uint32_t link = 0; link < world.ports.size(); ++link) add_port(world, link, result);
  for (std::uint32_t qp = 0; qp < world.senders.size(); ++qp) add_queue_pair(world, controls, qp, result);
  return result;
}

// Who waits for whom, for people: when nothing moves any more.

namespace {

// Ports of the far end where frames wait that came over this link.
std::vector<std::uint32_t> ports_behind(const World& world, std::uint32_t link, std::uint32_t priority) {
  std::vector<std::uint32_t> behind;
  const Node& far = world.nodes[world.links[link].to];
  if (far.is_host) return behind;
  for (const std::uint32_t next : world.switches[far.index].links) {
    bool has_come = false;
    world.classes[next].for_each_waiting(world.pool, priority, [&](PacketIndex at) {
      has_come |= world.pool[at].ingress == reverse_of(link);
    });
    if (has_come) behind.push_back(next);
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
