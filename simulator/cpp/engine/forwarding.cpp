// Equal ports are found by one breadth-first search for each destination's switch.
#include "engine/forwarding.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "base/configuration.h"
#include "protocol/queue_pair.h"

namespace simulator {

namespace {

constexpr std::uint32_t kUnreachable = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void Forwarding::add(std::uint32_t qp, std::uint64_t path_seed) {
  path_seeds_.resize(qp + std::size_t{1});
  path_seeds_[qp] = path_seed;
}

void Forwarding::spray(std::uint32_t qp, const std::vector<std::uint32_t>& route,
                       const ConnectionConfiguration& configuration) {
  const std::uint32_t peer = world_.senders[qp].peer;
  const std::size_t size = std::max(qp, peer) + std::size_t{1};
  if (sprays_.size() < size) sprays_.resize(size);
  if (spray_targets_.size() < size) spray_targets_.resize(size);
  sprays_[qp].emplace(stream_of(qp), configuration.spray_paths);
  spray_targets_[peer] = {
      .hash = PathHash(world_.seed, world_.links[route.front()].from, world_.links[route.back()].to),
      .path_seed = configuration.path_seed,
      .target = world_.ports[route.back()].owner,
      .last_link = route.back()};
}

RandomStream Forwarding::stream_of(std::uint32_t qp) const {
  return RandomStream(world_.seed, "spray:" + std::to_string(queue_pair_number(qp)));
}

Forwarding::HashedPorts Forwarding::equal_ports(std::uint32_t link, const Packet& packet) {
  const std::uint32_t element = world_.switch_behind(link);
  const SprayTarget& spray = spray_targets_[packet.qp];
  if (element == spray.target) return {std::span(&spray.last_link, 1), 0};
  return choose_among(groups_[groups_towards(spray.target)[element]], spray, packet, element);
}

std::uint32_t Forwarding::next_link(std::uint32_t link, const Packet& packet) {
  const HashedPorts equal = equal_ports(link, packet);
  return equal.ports[equal.hashed];
}

std::uint32_t Forwarding::only_link_of(std::uint32_t host) const {
  return world_.nics[world_.nodes[host].index].link;
}

std::vector<std::uint32_t> Forwarding::route(std::uint32_t source, std::uint32_t destination,
                                             std::uint64_t entropy) {
  const std::uint32_t first = only_link_of(source);
  if (first == kNoLink || only_link_of(destination) == kNoLink) return {};
  const std::uint32_t last = reverse_of(only_link_of(destination));
  if (first == last) return {first};  // a cable without a switch
  const std::uint32_t target = world_.links[last].from;
  std::uint32_t node = world_.links[first].to;
  if (world_.nodes[node].is_host || world_.nodes[target].is_host) return {};
  const PathHash hash(world_.seed, source, destination);
  std::vector<std::uint32_t> links{first};
  const GroupsBySwitch& groups = groups_towards(world_.nodes[target].index);
  for (; node != target; node = world_.links[links.back()].to) {
    const Group group = groups_[groups[world_.nodes[node].index]];
    if (group.count == 0) return {};
    links.push_back(ports_of(group)[group.count == 1 ? 0 : hash.choice(entropy, node, group.count)]);
  }
  links.push_back(last);
  return links;
}

std::vector<std::uint32_t> Forwarding::route_of(std::uint32_t qp) {
  const Sender& sender = world_.senders[qp];
  const std::uint32_t peers = world_.senders[sender.peer].link;
  return route(world_.links[sender.link].from, world_.links[peers].from, path_seeds_[qp]);
}

void Forwarding::exclude_links(const std::vector<std::uint32_t>& links) {
  excluded_.clear();
  if (!links.empty()) excluded_.resize(world_.links.size() / 2);
  for (const std::uint32_t link : links) excluded_[link / 2] = true;
  groups_by_target_.clear();
  groups_.clear();
  groups_by_switch_.clear();
  groups_of_one_.clear();
  ports_.clear();
  first_equivalents_.clear();
}

const Forwarding::GroupsBySwitch& Forwarding::groups_towards(std::uint32_t target) {
  if (groups_by_target_.empty()) groups_by_target_.resize(world_.switches.size());
  if (groups_by_target_[target].empty()) [[unlikely]]
    find_groups(target);
  return groups_by_target_[target];
}

void Forwarding::find_groups(std::uint32_t target) {
  if (trunks_.empty()) find_trunks();
  if (first_equivalents_.empty()) find_equivalents();
  const std::uint32_t first = first_equivalents_[target];
  if (groups_by_target_[first].empty()) search(first);
  if (first == target) return;
  // A switch that its equivalent cannot reach searches separately, because the excluded links then also lead there.
  if (!excluded_.empty() && !is_connected_) return search(target);
  copy_groups(first, target);
}

// Twins are equally far from everybody else, so only they and their neighbours forward otherwise.
void Forwarding::copy_groups(std::uint32_t twin, std::uint32_t target) {
  GroupsBySwitch& groups = groups_by_target_[target];
  groups = groups_by_target_[twin];
  std::vector<std::uint32_t> ports;
  for (const Trunk& trunk : trunks_[twin]) {
    if (!is_excluded(trunk.link)) ports.push_back(trunk.link);
  }
  std::ranges::sort(ports);
  groups[twin] = group_of(twin, ports);
  groups[target] = group_of(target, {});
  for (const Trunk& trunk : trunks_[target]) {
    if (!is_excluded(trunk.link)) groups[trunk.far] = group_of_one(reverse_of(trunk.link));
  }
}

// Nodes that cannot be reached without the excluded links are reached over them.
void Forwarding::search(std::uint32_t target) {
  const std::size_t switches = world_.switches.size();
  next_ports_.resize(switches);
  for (std::vector<std::uint32_t>& ports : next_ports_) ports.clear();
  const std::vector<std::uint32_t> hops = hops_to(target, {});
  is_connected_ = std::ranges::find(hops, kUnreachable) == hops.end();
  if (!excluded_.empty() && !is_connected_) hops_to(target, hops);
  GroupsBySwitch& groups = groups_by_target_[target];
  groups.reserve(switches);
  for (std::uint32_t element = 0; element < switches; ++element) {
    std::ranges::sort(next_ports_[element]);
    groups.push_back(group_of(element, next_ports_[element]));
  }
}

// One search from the target: a node one hop further sends back over the link through which it was found. `known` holds
// the hops of an earlier search; this one then uses all links, for the nodes that it did not reach.
std::vector<std::uint32_t> Forwarding::hops_to(std::uint32_t target,
                                               const std::vector<std::uint32_t>& known) {
  std::vector<std::uint32_t> hops(world_.switches.size(), kUnreachable);
  std::vector<std::uint32_t> reached{target};
  hops[target] = 0;
  for (std::size_t nth = 0; nth < reached.size(); ++nth) {
    const std::uint32_t next = hops[reached[nth]] + 1;
    for (const Trunk& trunk : trunks_[reached[nth]]) {
      if (known.empty() && is_excluded(trunk.link)) continue;
      if (hops[trunk.far] == kUnreachable) {
        hops[trunk.far] = next;
        reached.push_back(trunk.far);
      }
      const bool is_wanted = known.empty() || known[trunk.far] == kUnreachable;
      if (hops[trunk.far] == next && is_wanted) next_ports_[trunk.far].push_back(reverse_of(trunk.link));
    }
  }
  return hops;
}

// A switch has few groups: one up, and one for each port down.
std::uint32_t Forwarding::group_of(std::uint32_t element, const std::vector<std::uint32_t>& ports) {
  if (ports.size() == 1) return group_of_one(ports.front());
  if (groups_by_switch_.empty()) groups_by_switch_.resize(world_.switches.size());
  std::vector<std::uint32_t>& known = groups_by_switch_[element];
  const auto same = [&](std::uint32_t group) { return std::ranges::equal(ports_of(groups_[group]), ports); };
  if (const auto found = std::ranges::find_if(known, same); found != known.end()) return *found;
  known.push_back(add_group(ports));
  return known.back();
}

std::uint32_t Forwarding::group_of_one(std::uint32_t port) {
  if (groups_of_one_.empty()) groups_of_one_.resize(world_.links.size(), kUnreachable);
  if (groups_of_one_[port] == kUnreachable) groups_of_one_[port] = add_group({port});
  return groups_of_one_[port];
}

std::uint32_t Forwarding::add_group(const std::vector<std::uint32_t>& ports) {
  const auto first = static_cast<std::uint32_t>(ports_.size());
  ports_.insert(ports_.end(), ports.begin(), ports.end());
  groups_.push_back({first, static_cast<std::uint32_t>(ports.size())});
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

void Forwarding::find_trunks() {
  trunks_.resize(world_.switches.size());
  nodes_.resize(world_.switches.size());
  for (std::uint32_t node = 0; node < world_.nodes.size(); ++node) {
    if (!world_.nodes[node].is_host) nodes_[world_.nodes[node].index] = node;
  }
  for (std::uint32_t element = 0; element < trunks_.size(); ++element) {
    for (const std::uint32_t link : world_.switches[element].links) {
      const Node& far = world_.nodes[world_.links[link].to];
      if (!far.is_host) trunks_[element].push_back({link, far.index});
    }
  }
}

// Among the links that are not left out.
void Forwarding::find_equivalents() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> firsts;  // by neighbours
  for (std::uint32_t element = 0; element < trunks_.size(); ++element) {
    std::vector<std::uint32_t> neighbours;
    for (const Trunk& trunk : trunks_[element]) {
      if (!is_excluded(trunk.link)) neighbours.push_back(trunk.far);
    }
    std::ranges::sort(neighbours);
    const bool is_alone = neighbours.empty();
    first_equivalents_.push_back(is_alone ? element : firsts.try_emplace(neighbours, element).first->second);
  }
}

}  // namespace simulator
