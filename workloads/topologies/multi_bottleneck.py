"""Two switches, one link, and a receiver that two of the flows share."""

from typing import Final, Literal

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import Topology

LEFT: Final = 5
RIGHT: Final = 6


class MultiBottleneck(Topology):
    """Hosts h0 to h4 (A0 to A4) on s0, h5 to h10 (B0 to B5) on s1, and one faster link between the switches.

    When each A sends to its B, and B5 to B0 as well, the five share the link between the switches, and B0's
    link is shared by two: max-min fair are 5 Gb/s for those two and 8.75 Gb/s for the other four.

    Source: RoCC (CoNEXT 2020), section 6.1, figures 10 and 12a.
    """

    kind: Literal["multi_bottleneck"] = "multi_bottleneck"
    rate_bps: Rate = 10_000_000_000
    """Rate of every host's link."""
    bottleneck_rate_bps: Rate = 40_000_000_000
    """Rate of the link between the switches."""

    def host_names(self) -> tuple[str, ...]:
        """A0 to A4, B0 to B5."""
        return tuple(f"h{index}" for index in range(LEFT + RIGHT))

    def switch_names(self) -> tuple[str, ...]:
        """Left and right."""
        return ("s0", "s1")

    def links(self) -> tuple[Link, ...]:
        """One link per host, and the one in between."""
        hosts = [
            Link(host, "s0" if index < LEFT else "s1", self.rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        ]
        return (*hosts, Link("s0", "s1", self.bottleneck_rate_bps, self.delay_ns))
