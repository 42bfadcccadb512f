"""A network of two racks, traffic from one to the other, and sizes of transfers."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.flow_sizes import FlowSizes
from rogue.workloads.plugins import register_flow_sizes, register_topology, register_workload
from rogue.workloads.specification import Rate, Size
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies import Link, Placement, Topology
from rogue.workloads.traffic import Flow, Workload


class Racks(Topology):
    """Two racks of hosts, joined by one link."""

    kind: Literal["racks"] = "racks"
    hosts_per_rack: Annotated[int, Field(ge=1, le=64)]
    """Number of hosts per rack."""
    rate_bps: Rate
    """Rate of every link."""

    def host_names(self) -> tuple[str, ...]:
        """One rack after the other."""
        return tuple(f"h{index}" for index in range(2 * self.hosts_per_rack))

    def switch_names(self) -> tuple[str, ...]:
        """One per rack."""
        return ("s0", "s1")

    def links(self) -> tuple[Link, ...]:
        """Hosts to their switch, and the switches to each other."""
        own = [
            Link(host, f"s{index // self.hosts_per_rack}", self.rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        ]
        return (*own, Link("s0", "s1", self.rate_bps, self.delay_ns))


class Opposite(Workload):
    """Each host of the first half sends once to its counterpart in the second half."""

    kind: Literal["opposite"] = "opposite"
    size_bytes: Size
    """Payload of each transfer."""

    def hosts_min(self) -> int:
        """A pair."""
        return 2

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """By source."""
        half = len(placement.hosts) // 2
        pairs = zip(placement.hosts[:half], placement.hosts[half:], strict=False)
        return tuple(
            Flow(a, b, "write", self.size_bytes, start_jitter_ns(seed, f"{a}->{b}"), 1) for a, b in pairs
        )

    @property
    def duration_ns(self) -> None:
        """Until all has arrived."""
        return


register_topology(Racks)
register_workload(Opposite)
register_flow_sizes(
    "two", FlowSizes("half of 1 KB, half of up to 9 KB", "made up", ((999, 0), (1_000, 50), (9_000, 100)))
)
