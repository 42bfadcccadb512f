// Prefetching memory before it is needed, in networks that do not fit into the cache. In others this costs
// more than it gains.
//
// Of hosts: the winner of a small part of the tree is a link that comes up soon, mostly within about a hundred
// events. Whenever a link has fired, its part has a new winner. What that link will need lies at the end of
// chains of addresses: from the link to its packet, from the packet to its queue pair, from the NIC to those that
// send. So the winner is looked at again after some events, once for each step of the chain, and each step finds
// what the one before has prefetched. A link that fires earlier than that has gained less, and nothing is wrong.
//
// Of switches, which run ahead: all links over which something arrives meanwhile, before the first does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/configuration.h"
#include "base/containers.h"
#include "engine/forwarding.h"
#include "engine/reliabilities.h"
#include "engine/winner_tree.h"
#include "engine/world.h"

namespace simulator {

class LookAhead {
 public:
  // A link to a host has fired, and waits for its next packet. Not inline: small networks would pay for its
  // registers.
  [[gnu::noinline]] void after(const World& world, const Reliabilities& reliabilities, const WinnerTree& tree,
                               std::uint32_t link) {
    const std::uint32_t soon = tree.any_link_in(tree.large_part_of(world.ports[link].slot, kDepth));
    at(0) = soon;
    prefetch_port(world, soon);
    prefetch_packets(world, at(1));
    prefetch_queue_pair(world, reliabilities, at(2));
    prefetch_reliability(world, at(3));
    prefetch_parts(world, at(4));
    prefetch_nic(world, reverse_of(at(2)));
    prefetch_turns(world, reverse_of(at(3)));
    ++events_;
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
      if (!world.classes.empty()) __builtin_prefetch(world.classes.data() + reverse_of(link));
    });
    if (count == 1) return;
    const std::span arriving(arriving_.data(), count);
    for (const std::uint32_t link : arriving) {
      world.pool.prefetch(world.ports[link].in_flight.head);
      world.pool.prefetch(world.ports[reverse_of(link)].in_flight.tail);
    }
    for (const std::uint32_t link : arriving) {
      prefetch_next(world, forwarding, world.ports[link].in_flight);
      const PacketFifo waiting = waiting_of(world, reverse_of(link));
      world.pool.prefetch(waiting.head);
      world.pool.prefetch(waiting.tail);
    }
  }

 private:
  static constexpr int kDepth = 4;
  static constexpr std::uint32_t kEventsPerStep = 4;
  static constexpr std::size_t kRequesterBytes = 10 * kLineBytes;
  static constexpr std::size_t kResponderBytes = 4 * kLineBytes;

  std::uint32_t& at(std::uint32_t step) { return ring_[(events_ - step * kEventsPerStep) % ring_.size()]; }

  // All are always inline: otherwise gcc drops their calls because it sees no effect.
  [[gnu::always_inline]] static void prefetch_port(const World& world, std::uint32_t link) {
    __builtin_prefetch(world.ports.data() + link);
    __builtin_prefetch(world.ports.data() + reverse_of(link));
    if (!world.classes.empty()) __builtin_prefetch(world.classes.data() + link);
  }

  // The packet that arrives, and the one that may leave.
  [[gnu::always_inline]] static void prefetch_packets(const World& world, std::uint32_t link) {
    world.pool.prefetch(world.ports[link].in_flight.head);
    world.pool.prefetch(waiting_of(world, link).head);
  }

  // The packet behind the first, and the next link of the first.
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

  // The packet that arrives at a host and belongs to a queue pair, if one does.
  [[gnu::always_inline]] static const Packet* arriving_packet(const World& world, std::uint32_t link) {
    const Port& port = world.ports[link];
    if (port.in_flight.empty() || !port.has(Port::kPeerIsHost)) return nullptr;
    const Packet& packet = world.pool[port.in_flight.head];
    return packet.kind < PacketKind::kDatagram ? &packet : nullptr;
  }

  // The same for a queue pair with a Reliability.
  [[gnu::always_inline]] static const Packet* reliable_packet(const World& world, std::uint32_t link) {
    const Packet* const packet = arriving_packet(world, link);
    if (packet == nullptr) return nullptr;
    const bool is_reliable =
        packet->kind == PacketKind::kData || packet->kind == PacketKind::kAcknowledgement;
    return is_reliable ? packet : nullptr;
  }

  [[gnu::always_inline]] static void prefetch_queue_pair(const World& world,
                                                         const Reliabilities& reliabilities,
                                                         std::uint32_t link) {
    const Packet* const packet = arriving_packet(world, link);
    if (packet == nullptr) return;
    prefetch_lines(world.senders.data() + packet->qp, sizeof(Sender));
    __builtin_prefetch(world.receivers.data() + packet->qp);
    if (reliable_packet(world, link) == nullptr) return;
    __builtin_prefetch(world.reliabilities.data() + packet->qp);
    reliabilities.prefetch(world.ports[link].in_flight.head, packet->kind);
    prefetch_port(world, reverse_of(link));
  }

  [[gnu::always_inline]] static void prefetch_reliability(const World& world, std::uint32_t link) {
    const Packet* const packet = reliable_packet(world, link);
    if (packet == nullptr) return;
    const Reliability& own = world.reliabilities[packet->qp];
    if (packet->kind == PacketKind::kData) {
      prefetch_lines(own.responder.get(), kResponderBytes);
    } else {
      prefetch_lines(own.requester.get(), kRequesterBytes);
    }
  }

  // Memory that it points to.
  [[gnu::always_inline]] static void prefetch_parts(const World& world, std::uint32_t link) {
    const Packet* const packet = reliable_packet(world, link);
    if (packet == nullptr) return;
    const Reliability& own = world.reliabilities[packet->qp];
    if (packet->kind == PacketKind::kData) {
      own.responder->prefetch();
    } else {
      own.requester->prefetch();
    }
  }

  // The NIC that sends on this link, if a host does; and its queue pairs that have something to send.
  [[gnu::always_inline]] static void prefetch_nic(const World& world, std::uint32_t link) {
    const Port& port = world.ports[link];
    if (port.has(Port::kOwnerIsHost)) __builtin_prefetch(world.nics.data() + port.owner);
  }
  [[gnu::always_inline]] static void prefetch_turns(const World& world, std::uint32_t link) {
    const Port& port = world.ports[link];
    if (!port.has(Port::kOwnerIsHost)) return;
    const ReadyQueue& ready = world.nics[port.owner].ready;
    if (ready.first() != kNever) __builtin_prefetch(&ready.top());
  }

  // The packets that leave next, if there are any.
  [[gnu::always_inline]] static PacketFifo waiting_of(const World& world, std::uint32_t link) {
    const Port& port = world.ports[link];
    if (!port.has(Port::kClassed)) return port.waiting;
    const ClassedPort& classes = world.classes[link];
    return classes.waiting == 0 ? PacketFifo{} : classes.queues[highest_of(classes.waiting)].packets;
  }

  std::array<std::uint32_t, 64> arriving_{};  // at the switch that runs ahead
  std::array<std::uint32_t, 32> ring_{};      // links that come up soon, the newest of each event
  std::uint32_t events_ = 0;
};

}  // namespace simulator
