// Counters of ports and queue pairs, for people.
#include "engine/counters.h"

#include <string>

namespace simulator {

namespace {

void add_classes(const World& world, std::uint32_t link, std::vector<Counter>& result) {
  const LinkRecord& record = world.links[link];
  const std::string& node = world.nodes[record.from].name;
  const ClassedPort& classes = world.classes[link];
  if (world.has_marking(record.from)) {
    std::int64_t marked_packets = 0;
    for (const auto& counters : classes.counters->priorities) marked_packets += counters.marked_packets;
    result.push_back({node, world.port_name(link), "marked_packets", marked_packets});
  }
  if (classes.counters->trimming) {
    result.push_back({node, world.port_name(link), "trimmed_packets", classes.counters->trimmed_packets});
    result.push_back({node, world.port_name(link), "trimmed_bytes", classes.counters->trimmed.value});
  }
  if (!world.has_flow_control(record.from)) return;
  result.push_back({node, world.port_name(link), "pause_frames", classes.counters->pause_frames});
  result.push_back({node, world.port_name(link), "lossless_drops", classes.counters->lossless_drops});
  result.push_back({node, world.port_name(link), "watchdog_fired", classes.counters->watchdog_fired});
  result.push_back(
      {node, world.port_name(link), "headroom_used_max_bytes", world.ingresses[link].headroom_used_max});
}

void add_port(const World& world, std::uint32_t link, std::vector<Counter>& result) {
  const LinkRecord& record = world.links[link];
  const std::string& node = world.nodes[record.from].name;
  const std::string port = world.port_name(link);
  result.push_back({node, port, "tx_bytes", world.ports[link].sent_bytes.value});
  result.push_back({node, port, "rx_bytes", world.received_bytes(link ^ 1).value});
  result.push_back({node, port, "lost_packets", record.lost_packets});
  if (world.ports[link].has(Port::kRouteEnds)) {
    result.push_back({node, port, "expired_packets", record.expired_packets});
    result.push_back({node, port, "stray_packets", record.stray_packets});
  }
  if (!world.nodes[record.from].is_host) result.push_back({node, port, "drops", record.dropped_packets});
  if (world.has_classes(record.from)) add_classes(world, link, result);
}

void add_queue_pair(const World& world, const Controls& controls, std::uint32_t qp,
                    std::vector<Counter>& result) {
  const Sender& sender = world.senders[qp];
  const RequesterCounters counters = world.counters_of(qp);
  const std::string& node = world.nics[sender.nic].name;
  const std::string port = world.port_name(sender.link);
  const std::string prefix = "qp" + std::to_string(queue_pair_number(qp)) + ".";
  const auto add = [&](const char* name, auto value) {
    result.push_back({node, port, prefix + name, static_cast<std::int64_t>(value)});
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

}  // namespace simulator
