// Forwarding tables of switches, for packets that choose their path hop by hop: for each switch and each
// destination's switch the ports that lead there by a shortest path. A sprayed packet carries a number for its
// entropy, and its queue pair says the rest. What is not sprayed keeps the route that its queue pair had when it
// left.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/configuration.h"
#include "engine/packet.h"
#include "engine/world.h"
#include "protocol/path_hash.h"

namespace simulator {

class Forwarding {
 public:
  explicit Forwarding(const World& world) : world_(world) {}

  // Of every queue pair: the state that its path is drawn from.
  void add(std::uint32_t qp, std::uint64_t path_seed);

  // From now on each packet of this queue pair chooses its path. `route` is the fixed one.
  void spray(std::uint32_t qp, const std::vector<std::uint32_t>& route,
             const ConnectionConfiguration& configuration);

  // State from which the paths of a queue pair's packets are drawn.
  RandomStream stream_of(std::uint32_t qp) const;

  // `position` of the next packet of a sprayed queue pair.
  std::uint32_t draw(std::uint32_t qp) { return Packet::kSprayed | sprays_[qp]->next(); }

  // The next link of a sprayed packet that arrived at a switch over `link`.
  std::uint32_t next_link(std::uint32_t link, const Packet& packet);

  // Prefetch the first memory that it reads.
  [[gnu::always_inline]] void prefetch(const Packet& packet) const {
    __builtin_prefetch(spray_targets_.data() + packet.qp);
  }

  // The links from one host to another that a packet with this entropy takes; empty without a path. From the
  // first question on no link may be added.
  std::vector<std::uint32_t> route(std::uint32_t source, std::uint32_t destination, std::uint64_t entropy);

  // The same for a queue pair with its current paths.
  std::vector<std::uint32_t> route_of(std::uint32_t qp);

  // From now on; one direction of each link. Without a remaining path no link counts as excluded.
  void exclude_links(const std::vector<std::uint32_t>& links);

  // The equal ports that it may take there, and which of them is `next_link`.
  struct HashedPorts {
    std::span<const std::uint32_t> ports;
    std::uint32_t hashed;
  };
  HashedPorts equal_ports(std::uint32_t link, const Packet& packet);

 private:
  // Of the packets that a queue pair receives.
  struct SprayTarget {
    PathHash hash;
    std::uint64_t path_seed = 0;
    std::uint32_t target = 0;     // the destination's switch
    std::uint32_t last_link = 0;  // from there
  };

  // Equal ports: a part of `ports_`.
  struct Group {
    std::uint32_t first;
    std::uint32_t count;
  };
  using GroupsBySwitch = std::vector<std::uint32_t>;

  // A link between two switches, seen from one.
  struct Trunk {
    std::uint32_t link;
    std::uint32_t far;
  };

  std::span<const std::uint32_t> ports_of(const Group& group) const {
    return {ports_.data() + group.first, group.count};
  }
  HashedPorts choose_among(const Group& group, const SprayTarget& spray, const Packet& packet,
                           std::uint32_t element) const {
    if (group.count == 1) return {ports_of(group), 0};
    return {ports_of(group),
            spray.hash.choice(spray.path_seed ^ packet.path(), nodes_[element], group.count)};
  }
  std::uint32_t only_link_of(std::uint32_t host) const;
  const GroupsBySwitch& groups_towards(std::uint32_t target);
  void find_groups(std::uint32_t target);
  void search(std::uint32_t target);
  std::vector<std::uint32_t> hops_to(std::uint32_t target, const std::vector<std::uint32_t>& known);
  bool is_excluded(std::uint32_t link) const { return !excluded_.empty() && excluded_[link / 2]; }
  void find_equivalents();
  void copy_groups(std::uint32_t twin, std::uint32_t target);
  std::uint32_t group_of(std::uint32_t element, const std::vector<std::uint32_t>& ports);
  std::uint32_t group_of_one(std::uint32_t port);
  std::uint32_t add_group(const std::vector<std::uint32_t>& ports);
  void find_trunks();

  const World& world_;
  std::vector<std::uint64_t> path_seeds_;                     // by sending queue pair
  std::vector<bool> excluded_;                                // by cable; empty: none is
  std::vector<std::optional<ObliviousSpray>> sprays_;         // by sending queue pair
  std::vector<SprayTarget> spray_targets_;                    // by receiving queue pair
  std::vector<GroupsBySwitch> groups_by_target_;              // by target; empty until the first lookup
  std::vector<Group> groups_;                                 // each once
  std::vector<std::vector<std::uint32_t>> groups_by_switch_;  // of each switch, those of several ports
  std::vector<std::uint32_t> groups_of_one_;                  // by port
  std::vector<std::vector<std::uint32_t>> next_ports_;        // by switch, during a search
  std::vector<std::uint32_t> ports_;
  std::vector<std::uint32_t> nodes_;              // by switch
  std::vector<std::vector<Trunk>> trunks_;        // of each switch, in the order of its ports
  std::vector<std::uint32_t> first_equivalents_;  // of each switch, the first with the same neighbours
  bool is_connected_ = true;                      // whether the last search reached all switches
};

}  // namespace simulator
