// The simulated network: nodes, links, ports, switches, NICs, queue pairs and the packets between them. The
// engine moves it. Who only looks at it is given no more than this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/configuration.h"
#include "base/random_stream.h"
#include "engine/classed_port.h"
#include "engine/nic.h"
#include "engine/packet_pool.h"
#include "engine/port.h"
#include "engine/winner_tree.h"
#include "protocol/framing.h"
#include "protocol/shared_buffer.h"

namespace simulator {

struct Node {
  std::string name;
  bool is_host;
  std::uint32_t index;  // into nics or switches
};

// Pauses sent to the far end of a link.
struct Pausing {
  std::uint32_t link;
  std::uint32_t priority;
};

struct Switch {
  std::int64_t buffer;  // of no meaning while unbounded
  std::int64_t used = 0;
  double alpha;
  bool is_bounded;
  bool has_classes;
  bool is_input_queued;
  std::vector<std::uint32_t> links;                // that it sends on
  SharedBuffer shared_buffer;                      // with classes, instead of `buffer` and `used`
  std::vector<SharedBuffer> inputs;                // one for each of `links` instead, if it is input-queued
  std::shared_ptr<SwitchControl> port_selector{};  // among equal ports, from a plug-in
  std::vector<Pausing> pausing{};
  std::uint32_t refreshes = 0;  // pending timers that repeat a pause frame
  Picoseconds lookahead{};  // what leaves another node from now on arrives no sooner; 0: it never runs ahead
  WinnerTree::Part part{};  // of the links that lead here
  SwitchConfiguration configuration;
};

struct World {
  World(std::uint64_t seed_of_all, const Framing& framing_of_all)
      : framing(framing_of_all), seed(seed_of_all) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Framing framing;
  std::uint64_t seed;
  PacketPool pool;
  std::vector<Port> ports;
  std::vector<LinkSpeed> speeds;
  std::vector<std::uint32_t> routes;  // link numbers, route after route
  std::vector<Sender> senders;
  std::vector<Receiver> receivers;
  std::vector<std::unique_ptr<QueuePairExtras>> extras;
  std::vector<Reliability> reliabilities;  // by queue pair, if any has one
  std::vector<Nic> nics;
  std::vector<Limiter> limiters;
  std::vector<RandomStream> lags;  // one per limiter
  std::vector<Switch> switches;
  std::vector<ClassedPort> classes;       // by link, up to the last that has one
  std::vector<IngressAccount> ingresses;  // by link: frames that arrived over the opposite direction
  PriorityMask priorities = 1;            // that connections use
  std::vector<Node> nodes;
  std::vector<LinkRecord> links;
  IpIds ip_ids{pool};
  PacketTable<PacketDetails> details{pool};
  std::vector<PacketIndex> held;      // by packet events, and replies that their NICs send later
  std::uint64_t missing_headers = 0;  // of trimmed packets, lost or refused afterwards

  // Ports and switches.
  std::uint32_t link_of(const Port& port) const { return static_cast<std::uint32_t>(&port - ports.data()); }
  // At the far end of a link: read from the port back, which lies beside the one that was just looked at.
  std::uint32_t switch_behind(std::uint32_t link) const { return ports[reverse_of(link)].owner; }
  ClassedPort& classes_of(const Port& port) { return classes[link_of(port)]; }
  const ClassedPort& classes_of(const Port& port) const { return classes[link_of(port)]; }
  IngressAccount& ingress_of(const Packet& packet) { return ingresses[packet.ingress]; }
  SharedBuffer& buffer_of(Switch& element, const IngressAccount& account) {
    return element.is_input_queued ? element.inputs[account.input] : element.shared_buffer;
  }
  const Switch* switch_at(std::uint32_t node) const {
    return nodes[node].is_host ? nullptr : &switches[nodes[node].index];
  }
  bool has_flow_control(std::uint32_t node) const {
    return switch_at(node) != nullptr && switch_at(node)->shared_buffer.pause().priorities != 0;
  }
  bool has_marking(std::uint32_t node) const {
    return switch_at(node) != nullptr && switch_at(node)->configuration.has_marking();
  }
  bool has_classes(std::uint32_t node) const {
    return switch_at(node) != nullptr && switch_at(node)->has_classes;
  }
  bool is_input_queued(std::uint32_t node) const {
    return switch_at(node) != nullptr && switch_at(node)->is_input_queued;
  }
  PriorityMask lossless_beyond(std::uint32_t link) const {
    return switch_at(links[link].to)->shared_buffer.pause().priorities;
  }
  std::string port_name(std::uint32_t link) const {
    return nodes[links[link].from].name + "->" + nodes[links[link].to].name;
  }
  Bytes waiting_bytes_of(const Port& port) const;
  Bytes received_bytes(std::uint32_t link) const;

  // Queue pairs. Calls `look` with the requester of one, of whatever kind it is.
  template <class Look>
  auto with_requester(std::uint32_t qp, Look&& look) const {
    const Sender& sender = senders[qp];
    if (sender.has_reliability) return look(*reliabilities[qp].requester);
    return look(sender.requester);
  }
  RequesterCounters counters_of(std::uint32_t qp) const {
    return with_requester(qp, [](const auto& requester) { return requester.counters(); });
  }
  Bytes posted_by(std::uint32_t qp) const {
    return with_requester(qp, [](const auto& requester) { return requester.posted_bytes(); });
  }
  QueuePairExtras& extras_of(std::uint32_t qp);
  const QueuePairExtras* find_extras(std::uint32_t qp) const {
    return qp < extras.size() ? extras[qp].get() : nullptr;
  }
  Bytes payload_of(const Packet& packet) const {
    return {std::int64_t{framing.payload_bytes(packet.kind, packet.flags, packet.frame_bytes)}};
  }
  Bytes delivered_by(std::uint32_t qp) const { return delivered_at(senders[qp].peer); }
  // Bytes delivered to this one. With a Reliability it does not read the sender, whose memory is far away.
  Bytes delivered_at(std::uint32_t receiver) const;
  std::uint64_t messages_delivered_by(std::uint32_t qp) const;
  std::uint64_t packets_taken_from(std::uint32_t qp) const;
};

}  // namespace simulator
