// Ways of the eager engine: a packet gets its whole route when it leaves its NIC. A sprayed one gets the rest of
// it anew at switches that choose, or once there was a rerouting.
#include <deque>
#include <string>

#include "protocol/path_hash.h"
#include "protocol/queue_pair.h"
#include "reference/engine.h"

namespace simulator::reference {

void Engine::add_spray(std::uint32_t qp, const ConnectionConfiguration& configuration) {
  const RandomStream stream(seed_, "spray:" + std::to_string(queue_pair_number(qp)));
  queue_pairs_[qp].spray.emplace(stream, configuration.spray_paths);
  if (!queue_pairs_[qp].reliability) return;
  queue_pairs_[qp].reliability->requester->use_paths(stream, configuration.spray_paths);
  queue_pairs_[qp].reliability->responder->use_paths(stream, configuration.spray_paths);
}

std::uint32_t Engine::next_path(std::uint32_t qp) {
  QueuePair& sender = queue_pairs_[qp];
  const bool chooses = sender.reliability && sender.reliability->requester->chooses_paths();
  return chooses ? sender.reliability->requester->next_path() : sender.spray->next();
}

// By node, -1 from where there is no way; hosts do not forward.
const std::vector<std::int64_t>& Engine::hops_to(std::uint32_t host, bool over_all) {
  std::vector<std::int64_t>& hops = hops_to_[{host, over_all}];
  if (!hops.empty()) return hops;
  hops.resize(nodes_.size(), -1);
  std::deque<std::uint32_t> reached{host};
  hops[host] = 0;
  for (; !reached.empty(); reached.pop_front()) {
    const std::uint32_t node = reached.front();
    if (nodes_[node].is_host && node != host) continue;
    for (std::uint32_t number = 0; number < links_.size(); ++number) {
      const Link& link = links_[number];
      if (link.to != node || hops[link.from] >= 0 || (!over_all && is_left_out(number))) continue;
      hops[link.from] = hops[node] + 1;
      reached.push_back(link.from);
    }
  }
  return hops;
}

// Packets that leave from now on go the new ways; sprayed ones go them from the next switch on.
void Engine::reroute(const std::vector<std::uint32_t>& left_out) {
  has_rerouted_ = true;
  hops_to_.clear();
  left_out_.clear();
  for (const std::uint32_t link : left_out) left_out_.insert(link / 2);
  for (QueuePair& sender : queue_pairs_) {
    sender.route = std::make_shared<const std::vector<std::uint32_t>>(
        find_route(sender.node, queue_pairs_[sender.peer].node, sender.path_seed));
  }
}

// At the switch that a packet has come to; beyond it the packet goes the way of its entropy.
void Engine::turn_to(std::uint32_t next, Packet& packet) {
  std::vector<std::uint32_t> route(packet.route->begin(), packet.route->begin() + packet.hop);
  route.push_back(next);
  const auto rest = way_from(links_[next].to, packet.from, packet.data.entropy);
  route.insert(route.end(), rest.begin(), rest.end());
  packet.route = std::make_shared<const std::vector<std::uint32_t>>(std::move(route));
}

void Engine::spray(Packet& packet, std::uint32_t path) {
  packet.is_sprayed = true;
  packet.data.entropy = static_cast<std::uint16_t>(path);
  packet.route = std::make_shared<const std::vector<std::uint32_t>>(
      way_from(queue_pairs_[packet.from].node, packet.from, path));
}

// From a node to the destination of a queue pair's packets.
std::vector<std::uint32_t> Engine::way_from(std::uint32_t node, std::uint32_t qp, std::uint32_t path) {
  const QueuePair& sender = queue_pairs_[qp];
  const std::uint32_t destination = queue_pairs_[sender.peer].node;
  return hashed_way(node, destination, PathHash(seed_, sender.node, destination), sender.path_seed ^ path);
}

std::vector<std::uint32_t> Engine::find_route(std::uint32_t source, std::uint32_t destination,
                                              std::uint64_t entropy) {
  if (hops_to(destination, true)[source] < 0) return {};
  return hashed_way(source, destination, PathHash(seed_, source, destination), entropy);
}

std::vector<std::uint32_t> Engine::hashed_way(std::uint32_t node, std::uint32_t destination,
                                              const PathHash& hash, std::uint64_t entropy) {
  std::vector<std::uint32_t> route;
  while (node != destination) {
    const std::vector<std::uint32_t> equal = equal_ports(node, destination);
    const auto count = static_cast<std::uint32_t>(equal.size());
    route.push_back(equal[hash.choice(entropy, node, count)]);
    node = links_[route.back()].to;
  }
  return route;
}

std::vector<std::uint32_t> Engine::equal_ports(std::uint32_t node, std::uint32_t destination) {
  const bool over_all = hops_to(destination, false)[node] < 0;
  const std::vector<std::int64_t>& hops = hops_to(destination, over_all);
  std::vector<std::uint32_t> equal;
  for (std::uint32_t link = 0; link < links_.size(); ++link) {
    if (links_[link].from != node || (!over_all && is_left_out(link))) continue;
    if (hops[links_[link].to] == hops[node] - 1) equal.push_back(link);
  }
  return equal;
}

}  // namespace simulator::reference
