"""Podsets under spines: a three-tier Clos network."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Rate, mistake, mistakes_at
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import HOSTS_MAX, Topology

SWITCHES_MAX: Final = 256


class Clos(Topology):
    """Podsets of racks; every rack is joined to all leaves of its podset, every spine to one leaf of each.

    Hosts stand rack by rack and podset by podset. Racks' switches come first (s0, s1, ...), then the leaves,
    podset by podset, then the spines; leaf i of a podset is joined to the i-th share of the spines. The
    defaults are two podsets of 24 racks with four leaves each and 64 spines, all links at 40 Gb/s: 128 links
    between leaves and spines, 64 of each podset, together 5.12 Tb/s. Of each rack eight hosts take part.

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
    """How many leaf switches each podset has, which are the uplinks of a rack too."""
    spines: Annotated[int, Field(ge=1, le=1024)] = 64
    """How many spines, a multiple of `leaves_per_podset`."""
    rate_bps: Rate = 40_000_000_000
    """Rate of every link."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        leaves = self.leaves_per_podset
        if self.spines % leaves:
            found = mistake(
                f"a multiple of leaves_per_podset, {leaves}",
                "give every leaf as many spines",
                f"{self.spines}",
            )
            raise mistakes_at({"spines": found})
        hosts = self.podsets * self.racks_per_podset * self.hosts_per_rack
        if hosts > HOSTS_MAX:
            found = mistake(f"at most {HOSTS_MAX} hosts", "take racks or hosts away", f"{hosts} hosts")
            raise mistakes_at({"hosts_per_rack": found})
        return self

    @property
    def _racks(self) -> int:
        return self.podsets * self.racks_per_podset

    @property
    def _leaves(self) -> int:
        return self.podsets * self.leaves_per_podset

    def host_names(self) -> tuple[str, ...]:
        """Rack by rack."""
        return tuple(f"h{index}" for index in range(self._racks * self.hosts_per_rack))

    def switch_names(self) -> tuple[str, ...]:
        """Racks' switches, leaves, spines."""
        return tuple(f"s{index}" for index in range(self._racks + self._leaves + self.spines))

    def links(self) -> tuple[Link, ...]:
        """Hosts' links, then uplinks of the racks, then those of the leaves."""
        ends = [(host, f"s{index // self.hosts_per_rack}") for index, host in enumerate(self.host_names())]
        ends += [
            (f"s{rack}", f"s{self._racks + rack // self.racks_per_podset * self.leaves_per_podset + leaf}")
            for rack in range(self._racks)
            for leaf in range(self.leaves_per_podset)
        ]
        share, first_spine = self.spines // self.leaves_per_podset, self._racks + self._leaves
        ends += [
            (f"s{self._racks + leaf}", f"s{first_spine + leaf % self.leaves_per_podset * share + spine}")
            for leaf in range(self._leaves)
            for spine in range(share)
        ]
        return tuple(Link(a, b, self.rate_bps, self.delay_ns) for a, b in ends)
