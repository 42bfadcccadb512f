"""Slow and fast sources behind two switches, and one receiver behind a third."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import HOSTS_MAX, Topology


class AsymmetricFanIn(Topology):
    """Slow sources on s0, fast ones on s1, both switches joined to s2, where receiver and prober stand.

    The defaults are five sources at 40 Gb/s, two at 100 Gb/s, and links of 100 Gb/s elsewhere: fair is a
    seventh of 100 Gb/s for each, 14.29 Gb/s, though the two fast sources could do with half of it each.

    Source: RoCC (CoNEXT 2020), section 6.1, figure 12b.
    """

    kind: Literal["asymmetric_fan_in"] = "asymmetric_fan_in"
    slow_hosts: Annotated[int, Field(ge=1, le=HOSTS_MAX // 4)] = 5
    """How many sources s0 has."""
    fast_hosts: Annotated[int, Field(ge=1, le=HOSTS_MAX // 4)] = 2
    """How many sources s1 has."""
    slow_rate_bps: Rate = 40_000_000_000
    """Rate of the links of the sources on s0."""
    rate_bps: Rate = 100_000_000_000
    """Rate of all other links."""

    def host_names(self) -> tuple[str, ...]:
        """Slow sources, fast sources, prober, receiver."""
        return tuple(f"h{index}" for index in range(self.slow_hosts + self.fast_hosts + 2))

    def switch_names(self) -> tuple[str, ...]:
        """The switches of the sources, and the receiver's."""
        return ("s0", "s1", "s2")

    def receiving_hosts(self) -> tuple[str, ...]:
        """Prober and receiver."""
        return self.host_names()[-2:]

    def links(self) -> tuple[Link, ...]:
        """One link per host, and the two to s2."""
        links = []
        for index, host in enumerate(self.host_names()):
            switch = "s0" if index < self.slow_hosts else "s1"
            if index >= self.slow_hosts + self.fast_hosts:
                switch = "s2"
            rate_bps = self.slow_rate_bps if switch == "s0" else self.rate_bps
            links.append(Link(host, switch, rate_bps, self.delay_ns))
        return (*links, *(Link(switch, "s2", self.rate_bps, self.delay_ns) for switch in ("s0", "s1")))
