"""Two-tier and three-tier Clos networks."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Rate, mistake, mistakes_at
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import Topology, check_host_count, numbered

SWITCHES_MAX: Final = 256


class TwoTier(Topology):
    """Racks with switches s0, s1, ..., each joined to every leaf switch; hosts are numbered rack by rack.

    The defaults are two racks of 24 hosts behind four uplinks at 40 Gb/s, 6 to 1 oversubscribed.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 5 and figure 8.
    """

    kind: Literal["two_tier"] = "two_tier"
    racks: Annotated[int, Field(ge=2, le=SWITCHES_MAX)] = 2
    """How many racks."""
    hosts_per_rack: Annotated[int, Field(ge=1, le=512)] = 24
    """How many hosts each rack has."""
    leaves: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 4
    """How many leaf switches, and uplinks of each rack."""
    rate_bps: Rate = 40_000_000_000
    """Rate of every host's link."""
    uplink_rate_bps: Rate = 40_000_000_000
    """Rate of each link between rack and leaf."""

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", self.racks * self.hosts_per_rack)

    def switch_names(self) -> tuple[str, ...]:
        return numbered("s", self.racks + self.leaves)

    def links(self) -> tuple[Link, ...]:
        uplinks = (
            Link(f"s{rack}", f"s{self.racks + leaf}", self.uplink_rate_bps, self.delay_ns)
            for rack in range(self.racks)
            for leaf in range(self.leaves)
        )
        return (*self.host_links(self.hosts_per_rack, self.rate_bps), *uplinks)


class Clos(Topology):
    """Podsets of racks; every rack is joined to all leaves of its podset, every spine to one leaf of each.

    Hosts are numbered rack by rack and podset by podset. Rack switches come first (s0, s1, ...), then the
    leaves, podset by podset, then the spines; leaf i of a podset is joined to the i-th share of the spines.
    The defaults are two podsets of 24 racks with four leaves each and 64 spines, all links at 40 Gb/s: each
    podset has 64 links between leaves and spines, 5.12 Tb/s together. Eight hosts of each rack take part.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 5 and figure 7.
    """

    kind: Literal["clos"] = "clos"
    podsets: Annotated[int, Field(ge=2, le=SWITCHES_MAX)] = 2
    """How many podsets."""
    racks_per_podset: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 24
    """How many racks each podset has."""
    hosts_per_rack: Annotated[int, Field(ge=1, le=512)] = 8
    """How many hosts each rack has."""
    leaves_per_podset: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 4
    """How many leaf switches each podset has, and uplinks each rack."""
    spines: Annotated[int, Field(ge=1, le=1024)] = 64
    """How many spines, a multiple of `leaves_per_podset`."""
    rate_bps: Rate = 40_000_000_000
    """Rate of every link."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        leaves = self.leaves_per_podset
        if self.spines % leaves:
            expected = f"a multiple of leaves_per_podset, {leaves}"
            found = mistake(expected, "give every leaf as many spines", f"{self.spines}")
            raise mistakes_at({"spines": found})
        check_host_count(self._racks * self.hosts_per_rack, "hosts_per_rack", "take racks or hosts away")
        return self

    @property
    def _racks(self) -> int:
        return self.podsets * self.racks_per_podset

    @property
    def _leaves(self) -> int:
        return self.podsets * self.leaves_per_podset

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", self._racks * self.hosts_per_rack)

    def switch_names(self) -> tuple[str, ...]:
        return numbered("s", self._racks + self._leaves + self.spines)

    def links(self) -> tuple[Link, ...]:
        """Return hosts' links, then uplinks of the racks, then those of the leaves."""
        ends = [
            (rack, self._racks + rack // self.racks_per_podset * self.leaves_per_podset + leaf)
            for rack in range(self._racks)
            for leaf in range(self.leaves_per_podset)
        ]
        share, first_spine = self.spines // self.leaves_per_podset, self._racks + self._leaves
        ends += [
            (self._racks + leaf, first_spine + leaf % self.leaves_per_podset * share + spine)
            for leaf in range(self._leaves)
            for spine in range(share)
        ]
        uplinks = (Link(f"s{a}", f"s{b}", self.rate_bps, self.delay_ns) for a, b in ends)
        return (*self.host_links(self.hosts_per_rack, self.rate_bps), *uplinks)
