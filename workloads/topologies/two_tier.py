"""Racks under leaf switches: a two-tier Clos network."""

from typing import Annotated, Final, Literal

from pydantic import Field

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import Topology

SWITCHES_MAX: Final = 256


class TwoTier(Topology):
    """Racks whose switches (s0, s1, ...) are each joined to every leaf switch; hosts stand rack by rack.

    The defaults are two racks of 24 hosts behind four uplinks at 40 Gb/s, 6 to 1 oversubscribed.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 5 and figure 8.
    """

    kind: Literal["two_tier"] = "two_tier"
    racks: Annotated[int, Field(ge=2, le=SWITCHES_MAX)] = 2
    """How many racks."""
    hosts_per_rack: Annotated[int, Field(ge=1, le=512)] = 24
    """How many hosts each rack has."""
    leaves: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 4
    """How many leaf switches, which are the uplinks of a rack too."""
    rate_bps: Rate = 40_000_000_000
    """Rate of every host's link."""
    uplink_rate_bps: Rate = 40_000_000_000
    """Rate of each link between rack and leaf."""

    def host_names(self) -> tuple[str, ...]:
        """Rack by rack."""
        return tuple(f"h{index}" for index in range(self.racks * self.hosts_per_rack))

    def switch_names(self) -> tuple[str, ...]:
        """The racks' switches, then the leaves."""
        return tuple(f"s{index}" for index in range(self.racks + self.leaves))

    def links(self) -> tuple[Link, ...]:
        """Hosts' links, then uplinks rack by rack."""
        hosts = [
            Link(host, f"s{index // self.hosts_per_rack}", self.rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        ]
        uplinks = [
            Link(f"s{rack}", f"s{self.racks + leaf}", self.uplink_rate_bps, self.delay_ns)
            for rack in range(self.racks)
            for leaf in range(self.leaves)
        ]
        return (*hosts, *uplinks)
