// Prefetching memory before it is needed, in networks that do not fit into the cache. In others this costs
// more than it gains.
//
// The winner of a small part of the tree is a link that comes up soon, mostly within about a hundred events.
// Whenever a link has fired, its part has a new winner. What that link will need lies at the end of chains of
// addresses: from the link to its packet, from the packet to where it goes. So the winner is looked at again
// after some events, once for each step of the chain, and each step finds what the one before has prefetched.
// A link that fires earlier than that has gained less, and nothing is wrong.
//
// Where each packet has one way, the chain is short: the port, its packets, its entry in the table of routes. Then
// the winners of two larger parts, which come up sooner, are those that the steps before have looked at.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/prefetch_lines.h"
#include "engine/forwarding.h"
#include "engine/prefetch_sender.h"
#include "engine/reliabilities.h"
#include "engine/winner_tree.h"
#include "engine/world.h"

namespace simulator {

class LookAhead {
 public:
  // A link has fired, and waits for its next packet.
  [[gnu::always_inline]] void after(World& world, const Forwarding& forwarding,
                                    const Reliabilities& reliabilities, const WinnerTree& tree,
                                    std::uint32_t link) {
    const std::uint32_t soon = tree.any_link_in(tree.large_part_of(world.ports[link].slot, kDepth));
    prefetch_port(world, soon);
    if (forwarding.is_used()) [[unlikely]]
      return follow(world, forwarding, reliabilities, soon);
    follow_plain(world, soon);
  }

  // A switch runs ahead: the links over which something arrives until then, the ports back, and the first
  // packets that come and go there.
  [[gnu::noinline]] void before(const World& world, const Forwarding& forwarding, const WinnerTree& tree,
                                WinnerTree::Part part, Picoseconds until) {
    std::size_t count = 0;
    tree.for_each_until(part, until, [&](std::uint32_t link) {
      if (count == arriving_.size()) return;
      arriving_[count++] = link;
      prefetch_port(world, link);
      if (!world.classes.empty()) __builtin_prefetch(world.classes.data() + (link ^ 1));
    });
    if (count == 1) return;
    const std::span arriving(arriving_.data(), count);
    for (const std::uint32_t link : arriving) {
      world.pool.prefetch(world.ports[link].in_flight.head);
      world.pool.prefetch(world.ports[link ^ 1].in_flight.tail);
    }
    for (const std::uint32_t link : arriving) {
      prefetch_next(world, forwarding, world.ports[link].in_flight);
      const PacketFifo waiting = waiting_of(world, link ^ 1);
      world.pool.prefetch(waiting.head);
      world.pool.prefetch(waiting.tail);
    }
  }

 private:
  struct Soon {
    std::uint32_t link = 0;
    std::uint32_t next = kNoLink;  // where its packet goes on
  };
  static constexpr int kDepth = 4;
  static constexpr std::uint32_t kEventsPerStep = 4;

  [[gnu::always_inline]] void follow_plain(const World& world, std::uint32_t soon) {
    at(0) = {soon, kNoLink};
    prefetch_packets(world, at(1).link);
    const std::uint32_t third = at(2).link;
    const Port& port = world.ports[third];
    if (has_way(world, port)) {
      const Packet& packet = world.pool[port.in_flight.head];
      prefetch_lines(world.senders.data() + packet.qp, sizeof(Sender));
      __builtin_prefetch(world.receivers.data() + packet.qp);
      prefetch_sender::nic(world, third ^ 1);
    }
    prefetch_sender::first_in_turn(world, at(3).link ^ 1);
    ++events_;
  }

  // Not inline: networks without sprayed packets would pay for its registers.
  [[gnu::noinline]] void follow(const World& world, const Forwarding& forwarding,
                                const Reliabilities& reliabilities, std::uint32_t soon) {
    at(0) = {soon, kNoLink};
    prefetch_packets(world, at(1).link);
    prefetch_way(world, forwarding, reliabilities, at(2).link);
    Soon& third = at(3);
    third.next = prefetch_destination(world, forwarding, third.link);
    if (at(4).next != kNoLink) prefetch_queues(world, at(4).next);
    prefetch_parts(world, at(4).link);
    prefetch_sender::nic(world, at(1).link);
    prefetch_sender::first_in_turn(world, at(2).link);
    prefetch_sender::queue_pair(world, at(3).link);
    prefetch_sender::requester(world, at(4).link);
    prefetch_sender::parts_of_requester(world, at(5).link);
    prefetch_sender::path(world, at(6).link);
    ++events_;
  }

  Soon& at(std::uint32_t step) { return ring_[(events_ - step * kEventsPerStep) % ring_.size()]; }

  // All are always inline: otherwise gcc drops their calls, for it sees no effect.
  [[gnu::always_inline]] static void prefetch_port(const World& world, std::uint32_t link) {
    __builtin_prefetch(world.ports.data() + link);
    __builtin_prefetch(world.ports.data() + (link ^ 1));
    if (!world.classes.empty()) __builtin_prefetch(world.classes.data() + link);
  }

  // The packet that arrives, the one behind it, and the one that may leave.
  [[gnu::always_inline]] static void prefetch_packets(const World& world, std::uint32_t link) {
    const Port& port = world.ports[link];
    world.pool.prefetch(port.in_flight.head);
    world.pool.prefetch(waiting_of(world, link).head);
  }

  // The packet behind the first, and what says where the first goes.
  [[gnu::always_inline]] static void prefetch_next(const World& world, const Forwarding& forwarding,
                                                   const PacketFifo& in_flight) {
    if (in_flight.empty()) return;
    const Packet& packet = world.pool[in_flight.head];
    world.pool.prefetch(packet.next);
    if (packet.is_sprayed()) {
      forwarding.prefetch(packet);
    } else {
      __builtin_prefetch(world.routes.data() + packet.position + 1);
    }
  }

  // Whether a packet arrives that has a way of its own, which does not end there by mistake.
  static bool has_way(const World& world, const Port& port) {
    return !port.in_flight.empty() && !port.has(Port::kRouteEnds) &&
           world.pool[port.in_flight.head].kind < PacketKind::kStray;
  }

  static bool is_of_reliability(const Packet& packet) {
    return packet.kind == PacketKind::kData || packet.kind == PacketKind::kAcknowledgement;
  }

  // What says where the packet that arrives goes.
  [[gnu::always_inline]] static void prefetch_way(const World& world, const Forwarding& forwarding,
                                                  const Reliabilities& reliabilities, std::uint32_t link) {
    const Port& port = world.ports[link];
    if (!has_way(world, port)) return;
    const Packet& packet = world.pool[port.in_flight.head];
    if (port.has(Port::kPeerIsHost)) {
      if (!is_of_reliability(packet)) return;
      prefetch_queue_pair(world, packet);
      reliabilities.prefetch(port.in_flight.head, packet.kind);
      prefetch_port(world, link ^ 1);
    } else if (packet.is_sprayed()) {
      forwarding.prefetch(packet);
    } else {
      __builtin_prefetch(world.routes.data() + packet.position + 1);
    }
  }

  [[gnu::always_inline]] static void prefetch_queue_pair(const World& world, const Packet& packet) {
    prefetch_lines(world.senders.data() + packet.qp, sizeof(Sender));
    __builtin_prefetch(world.receivers.data() + packet.qp);
    __builtin_prefetch(world.reliabilities.data() + packet.qp);
  }

  // Where that packet goes: the port, or what its queue pair has of its own. Returns the link, if there is one.
  [[gnu::always_inline]] static std::uint32_t prefetch_destination(const World& world,
                                                                   const Forwarding& forwarding,
                                                                   std::uint32_t link) {
    const Port& port = world.ports[link];
    if (!has_way(world, port)) return kNoLink;
    const Packet& packet = world.pool[port.in_flight.head];
    if (port.has(Port::kPeerIsHost)) {
      if (is_of_reliability(packet)) prefetch_reliability(world, packet);
      __builtin_prefetch(world.nics.data() + world.ports[link ^ 1].owner);
      return kNoLink;
    }
    const std::uint32_t next =
        packet.is_sprayed() ? forwarding.known_next_link(link, packet) : world.routes[packet.position + 1];
    if (next == kNoLink) return kNoLink;
    prefetch_port(world, next);
    if (const std::uint32_t priority = packet.priority(); priority != 0 && next < world.classes.size())
      __builtin_prefetch(&world.classes[next].queues[priority]);
    return next;
  }

  [[gnu::always_inline]] static void prefetch_reliability(const World& world, const Packet& packet) {
    const Reliability& own = world.reliabilities[packet.qp];
    if (packet.kind == PacketKind::kData) {
      prefetch_lines(own.responder.get(), kResponderBytes);
    } else {
      prefetch_lines(own.requester.get(), prefetch_sender::kRequesterBytes);
    }
  }

  // What the queue pair's object points to, of a packet that arrives at its host.
  [[gnu::always_inline]] static void prefetch_parts(const World& world, std::uint32_t link) {
    const Port& port = world.ports[link];
    if (!port.has(Port::kPeerIsHost) || !has_way(world, port)) return;
    const Packet& packet = world.pool[port.in_flight.head];
    if (!is_of_reliability(packet)) return;
    const Reliability& own = world.reliabilities[packet.qp];
    if (packet.kind == PacketKind::kData) {
      own.responder->prefetch();
    } else {
      own.requester->prefetch();
    }
  }

  // The packets that leave next, if there are any.
  [[gnu::always_inline]] static PacketFifo waiting_of(const World& world, std::uint32_t link) {
    const Port& port = world.ports[link];
    if (!port.has(Port::kClassed)) return port.waiting;
    const ClassedPort& classes = world.classes[link];
    return classes.waiting == 0 ? PacketFifo{} : classes.queues[highest_of(classes.waiting)].packets;
  }

  // What leaves that port before it, and behind what it leaves.
  [[gnu::always_inline]] static void prefetch_queues(const World& world, std::uint32_t link) {
    const Port& port = world.ports[link];
    const PacketFifo waiting = waiting_of(world, link);
    world.pool.prefetch(port.in_flight.tail);
    world.pool.prefetch(waiting.head);
    world.pool.prefetch(waiting.tail);
  }

  static constexpr std::size_t kResponderBytes = 4 * kLineBytes;

  std::array<std::uint32_t, 64> arriving_{};
  std::array<Soon, 32> ring_{};  // the newest of each event
  std::uint32_t events_ = 0;
};

}  // namespace simulator
