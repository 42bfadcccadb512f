"""The part of finite transfers that fits into the time of a workload that ends by the clock."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rogue.harness.cell.demand import Demand
from rogue.workloads.topologies import Topology
from rogue.workloads.traffic import Flow

BITS_NS = 8 * 1_000_000_000

Direction = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class Carried:
    """How much of a demand's finite transfers the links of hosts carry at most."""

    capacity_bytes: Mapping[str, int]
    """Bytes that a host's link carries in one direction while the traffic lasts."""
    shares: Mapping[tuple[str, Direction], float]
    """Part of the bytes of all transfers from or to a host that its link carries, where that is not all."""

    def sizes_bytes(self, flow: Flow) -> Mapping[int, int]:
        """Return the counts of a flow's finite transfers by size, which is at most what its links carry."""
        largest_bytes = min(self.capacity_bytes[flow.source], self.capacity_bytes[flow.destination])
        if not flow.arrivals:
            return {min(flow.size_bytes, largest_bytes): flow.count or 0}
        sizes = Counter(flow.arrived_sizes_bytes)
        if max(sizes) <= largest_bytes:
            return sizes
        return Counter(min(size_bytes, largest_bytes) for size_bytes in sizes.elements())

    def share(self, flow: Flow) -> float:
        """Return the part of these bytes that is moved."""
        return min(self.shares.get((flow.source, "out"), 1.0), self.shares.get((flow.destination, "in"), 1.0))

    def finite_bytes(self, flows: Iterable[Flow]) -> float:
        """Return the bytes of finite transfers that are moved."""
        return sum(self.share(flow) * _total_bytes(self.sizes_bytes(flow)) for flow in flows)


@lru_cache(maxsize=8)
def carried(topology: Topology, demand: Demand, traffic_ns: int) -> Carried:
    """Return how much of a demand fits into the time; all of it where the cell waits for every transfer."""
    capacity_bytes = {
        host: topology.host_rate_bps(host) * traffic_ns // BITS_NS for host in topology.host_names()
    }
    whole = Carried(capacity_bytes, {})
    if demand.workload.duration_ns is None:
        return whole
    asked_bytes: Counter[tuple[str, Direction]] = Counter()
    for flow in demand.flows:
        flow_bytes = _total_bytes(whole.sizes_bytes(flow))
        asked_bytes[flow.source, "out"] += flow_bytes
        asked_bytes[flow.destination, "in"] += flow_bytes
    shares = {end: capacity_bytes[end[0]] / asked for end, asked in asked_bytes.items() if asked}
    return Carried(capacity_bytes, {end: share for end, share in shares.items() if share < 1})


def _total_bytes(sizes_bytes: Mapping[int, int]) -> int:
    return sum(size_bytes * count for size_bytes, count in sizes_bytes.items())
