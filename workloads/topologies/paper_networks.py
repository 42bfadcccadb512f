"""Networks of single experiments in papers."""

from typing import Annotated, Final, Literal

from pydantic import Field

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import HOSTS_MAX, Topology, numbered

HOSTS_PER_RACK: Final = 16
PARKING_LOT_SWITCHES: Final = ("s0", "s0", "s1", "s2", "s2", "s2")
"""The switch of each host: two senders, then one, then one beside the prober and the receiver."""
LEFT: Final = 5
RIGHT: Final = 6
"""Hosts on each side of `MultiBottleneck`."""


class PaperTestbed(Topology):
    """Two racks of 16 hosts, each rack switch (s0, s1) with one uplink to the core (s2).

    Receiver and prober are in the first rack, and workloads use its hosts first as senders: the published
    incasts stay within one rack as long as they fit.

    Source: RoGUE, section 4.
    """

    kind: Literal["paper_testbed"] = "paper_testbed"
    rate_bps: Rate = 10_000_000_000
    """Rate of every host's link."""
    uplink_rate_bps: Rate = 40_000_000_000
    """Rate of each rack's link to the core."""

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", 2 * HOSTS_PER_RACK)

    def receiving_hosts(self) -> tuple[str, ...]:
        return self.host_names()[:HOSTS_PER_RACK]

    def switch_names(self) -> tuple[str, ...]:
        return ("s0", "s1", "s2")

    def links(self) -> tuple[Link, ...]:
        uplinks = (Link(rack, "s2", self.uplink_rate_bps, self.delay_ns) for rack in ("s0", "s1"))
        return (*self.host_links(HOSTS_PER_RACK, self.rate_bps), *uplinks)


class ParkingLot(Topology):
    """Three switches in a row with hosts h0, h1 on the first, h2 on the second, h3, h4, h5 on the third.

    Four senders h0 to h3 meet on their way to h5: the flows cross three, two or one congested links.
    The probing host h4 is a neighbour of the receiver.

    Source: RoGUE, figure 13 and section 5.5; the paper gives the number of congested links only.
    """

    kind: Literal["parking_lot"] = "parking_lot"
    rate_bps: Rate
    """Rate of every link, also between switches."""

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", len(PARKING_LOT_SWITCHES))

    def switch_names(self) -> tuple[str, ...]:
        return ("s0", "s1", "s2")

    def links(self) -> tuple[Link, ...]:
        ends = (*zip(self.host_names(), PARKING_LOT_SWITCHES, strict=True), ("s0", "s1"), ("s1", "s2"))
        return tuple(Link(a, b, self.rate_bps, self.delay_ns) for a, b in ends)


class MultiBottleneck(Topology):
    """Hosts h0 to h4 (A0 to A4) on s0, h5 to h10 (B0 to B5) on s1, and one faster link between the switches.

    When each A sends to its B, and B5 also sends to B0, the five share the link between the switches, and two
    share B0's link: max-min fair rates are 5 Gb/s for those two and 8.75 Gb/s for the other four.

    Source: RoCC (CoNEXT 2020), section 6.1, figures 10 and 12a.
    """

    kind: Literal["multi_bottleneck"] = "multi_bottleneck"
    rate_bps: Rate = 10_000_000_000
    """Rate of every host's link."""
    bottleneck_rate_bps: Rate = 40_000_000_000
    """Rate of the link between the switches."""

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", LEFT + RIGHT)

    def switch_names(self) -> tuple[str, ...]:
        return ("s0", "s1")

    def links(self) -> tuple[Link, ...]:
        hosts = (
            Link(host, "s0" if index < LEFT else "s1", self.rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        )
        return (*hosts, Link("s0", "s1", self.bottleneck_rate_bps, self.delay_ns))


class AsymmetricFanIn(Topology):
    """Slow sources on s0, fast ones on s1, both switches joined to s2, which has receiver and prober.

    The defaults are five sources at 40 Gb/s, two at 100 Gb/s, and links of 100 Gb/s elsewhere: the fair share
    of each source is a seventh of 100 Gb/s, 14.29 Gb/s, although the two fast ones could use half each.

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
        """Return slow sources, fast sources, prober and receiver."""
        return numbered("h", self.slow_hosts + self.fast_hosts + 2)

    def switch_names(self) -> tuple[str, ...]:
        return ("s0", "s1", "s2")

    def receiving_hosts(self) -> tuple[str, ...]:
        return self.host_names()[-2:]

    def links(self) -> tuple[Link, ...]:
        switches = ["s0"] * self.slow_hosts + ["s1"] * self.fast_hosts + ["s2"] * 2
        hosts = (
            Link(host, switch, self.slow_rate_bps if switch == "s0" else self.rate_bps, self.delay_ns)
            for host, switch in zip(self.host_names(), switches, strict=True)
        )
        return (*hosts, *(Link(switch, "s2", self.rate_bps, self.delay_ns) for switch in ("s0", "s1")))
