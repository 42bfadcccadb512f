// Equal ports are found by one breadth-first search for each destination's switch.
#include "engine/forwarding.h"

#include <algorithm>
#include <limits>
#include <string>

#include "protocol/queue_pair.h"

namespace simulator {

namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void Forwarding::spray(std::uint32_t qp, const std::vector<std::uint32_t>& route,
                       const ConnectionConfiguration& configuration) {
  const std::uint32_t peer = world_.senders[qp].peer;
  const std::size_t size = std::max(qp, peer) + std::size_t{1};
  if (sprays_.size() < size) sprays_.resize(size);
  if (ways_.size() < size) ways_.resize(size);
  sprays_[qp].emplace(stream_of(qp), configuration.spray_paths);
  ways_[peer] = {
      .hash = PathHash(world_.seed, world_.links[route.front()].from, world_.links[route.back()].to),
      .path_seed = configuration.path_seed,
      .target = world_.links[route.back()].from,
      .last_link = route.back()};
}

RandomStream Forwarding::stream_of(std::uint32_t qp) const {
  return RandomStream(world_.seed, "spray:" + std::to_string(queue_pair_number(qp)));
}

std::uint32_t Forwarding::next_link(std::uint32_t link, const Packet& packet) {
  const std::uint32_t node = world_.links[link].to;
  const Way& way = ways_[packet.qp];
  if (node == way.target) return way.last_link;
  const Group group = groups_[groups_towards(way.target)[world_.nodes[node].index]];
  if (group.count == 1) return ports_[group.first];
  return ports_of(group)[way.hash.choice(way.path_seed ^ packet.path(), node, group.count)];
}

Forwarding::Equal Forwarding::equal_ports(std::uint32_t link, const Packet& packet) {
  const std::uint32_t node = world_.links[link].to;
  const Way& way = ways_[packet.qp];
  if (node == way.target) return {std::span(&way.last_link, 1), 0};
  const Group group = groups_[groups_towards(way.target)[world_.nodes[node].index]];
  return {ports_of(group), way.hash.choice(way.path_seed ^ packet.path(), node, group.count)};
}

const Forwarding::GroupsBySwitch& Forwarding::groups_towards(std::uint32_t target) {
  const std::uint32_t index = world_.nodes[target].index;
  if (towards_.empty()) towards_.resize(world_.switches.size());
  GroupsBySwitch& groups = towards_[index];
  if (!groups.empty()) [[likely]]
    return groups;
  const std::vector<std::uint32_t> hops = hops_to(index);
  std::vector<std::uint32_t> ports;
  for (std::uint32_t element = 0; element < world_.switches.size(); ++element) {
    ports.clear();
    for (const std::uint32_t link : world_.switches[element].links) {
      const std::uint32_t far = far_switch(link);
      if (far != kNowhere && hops[far] != kNowhere && hops[far] + 1 == hops[element]) ports.push_back(link);
    }
    groups.push_back(group_of(element, ports));
  }
  return groups;
}

// By switch; hosts do not forward.
std::vector<std::uint32_t> Forwarding::hops_to(std::uint32_t target) const {
  std::vector<std::uint32_t> hops(world_.switches.size(), kNowhere);
  std::vector<std::uint32_t> reached{target};
  hops[target] = 0;
  for (std::size_t nth = 0; nth < reached.size(); ++nth) {
    for (const std::uint32_t link : world_.switches[reached[nth]].links) {
      const std::uint32_t far = far_switch(link);
      if (far == kNowhere || hops[far] != kNowhere) continue;
      hops[far] = hops[reached[nth]] + 1;
      reached.push_back(far);
    }
  }
  return hops;
}

// A switch has few groups: one up, and one for each port down.
std::uint32_t Forwarding::group_of(std::uint32_t element, const std::vector<std::uint32_t>& ports) {
  if (groups_known_.empty()) groups_known_.resize(world_.switches.size());
  std::vector<std::uint32_t>& known = groups_known_[element];
  const auto same = [&](std::uint32_t group) { return std::ranges::equal(ports_of(groups_[group]), ports); };
  if (const auto found = std::ranges::find_if(known, same); found != known.end()) return *found;
  known.push_back(static_cast<std::uint32_t>(groups_.size()));
  groups_.push_back({static_cast<std::uint32_t>(ports_.size()), static_cast<std::uint32_t>(ports.size())});
  ports_.insert(ports_.end(), ports.begin(), ports.end());
  return known.back();
}

std::uint32_t Forwarding::far_switch(std::uint32_t link) const {
  const Node& far = world_.nodes[world_.links[link].to];
  return far.is_host ? kNowhere : far.index;
}

}  // namespace simulator
