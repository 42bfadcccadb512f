"""NICs with several ports, each into a network of its own."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Rate, mistake, mistakes_at
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.shortest_paths import PathShape
from rogue.workloads.topologies.topology import HOSTS_MAX, Switch, Topology
from rogue.workloads.units import RATE

PLANES_MAX: Final = 64
SWITCHES_MAX: Final = 1024


class MultiPlane(Topology):
    """Hosts whose NIC has a port in each plane; planes are networks of their own, of leaves and spines.

    Each port has an equal part of the NIC's rate, as has every link of a plane. By default leaves have as
    many links up as down. With `spines: 0` a plane is one leaf. Hosts stand leaf by leaf, at the same place
    in every plane. Nothing joins planes but NICs.

    A host has one link here, so that a small switch stands for the ports of its NIC, a *splitter*: s0 is
    h0's, s1 is h1's and so on, then come the leaves and spines of the first plane, those of the second, and
    so on. A splitter chooses a plane as any switch chooses among equal links, by a hash of the packet's
    entropy. So the data of a plain queue pair stay in one plane, and have the rate of one port; so do its
    acknowledgements, perhaps in another plane. With `+spray` and `uet` each packet may go over another
    plane. Of few entropies one plane gets more than its part (of 64 over 4 planes about 20 instead of 16,
    which costs a fifth of the rate): state more of them with `paths`.

    A splitter is made as like a NIC as a switch can be. It holds whatever comes and drops, marks and trims
    nothing, writes no telemetry, tells no rates, and takes no part in `switch_controls`. With `+pfc` it
    obeys pauses, and pauses its leaves, and its host, when more than `pause_xoff` waits (by default 128 KB,
    as in a slow receiver's NIC). What suffers:

    - A packet is stored and forwarded twice more, so that the base round trip has four more hops, of no
      length; the cable inside has its part of `delay_spread`.
    - What a NIC would not send yet waits in the splitter: a queue pair begins at the rate of its host, which
      is that of `planes` ports. Round trips count that wait; the tables of queues and pauses, which have
      nothing of NICs, do not. Counters are those of all ports, splitters' too.
    - No congestion control knows of planes: one window or rate serves all of them, and a splitter does not
      avoid a port that is busy. NICs may choose a port that is free, as those of uet-htsim do.
    - A splitter forwards. Where a port has no link and NICs and switches know (`reroute_after`), what was
      already on its way to it reaches its host over another host's splitter, which no NIC would do.
    - What switches do at ports to hosts only (the watchdog of pauses, what `+rccc` spares) they do at the
      splitter's port, and not at the leaf's.

    Thresholds in bytes are for the rate of a host: `thresholds: rate` gives ports their part of them.
    Goodput is compared with that of all planes together. Completion times are compared with those of the
    planes that packets may take: one for a plain queue pair, all of them for a sprayed one.

    Source: Zhao et al., "Insights into DeepSeek-V3: Scaling Challenges and Reflections on Hardware for AI
    Architectures", ISCA 2025, for NICs whose queue pairs send over the ports of all planes; Qian et al.,
    "Alibaba HPN: A Data Center Network for Large Language Model Training", SIGCOMM 2024, for two planes and
    queue pairs that keep to one.
    Deviation: uet-htsim, sim/uec.cpp (UecNIC::findFreePort), commit 40ccb05, chooses a free port in turn.
    """

    kind: Literal["multi_plane"] = "multi_plane"
    planes: Annotated[int, Field(ge=1, le=PLANES_MAX)] = 4
    """How many planes, and ports of each NIC."""
    leaves: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 4
    """How many leaves each plane has."""
    hosts_per_leaf: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 4
    """How many hosts each leaf has."""
    spines: Annotated[int, Field(ge=0, le=SWITCHES_MAX)] = 4
    """How many spines each plane has, which are the uplinks of a leaf too; 0: a plane is one leaf."""
    rate_bps: Rate
    """Rate of a NIC, a multiple of `planes`; each link of a plane has an equal part of it."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        hosts = self._hosts
        if not 2 <= hosts <= HOSTS_MAX:
            found = mistake(f"from 2 to {HOSTS_MAX} hosts", "change it, or leaves", f"{hosts} hosts")
            raise mistakes_at({"hosts_per_leaf": found})
        if self.leaves > 1 and not self.spines:
            found = mistake("1 with spines: 0, for nothing else joins leaves", "lower it", f"{self.leaves}")
            raise mistakes_at({"leaves": found})
        if self.rate_bps % self.planes:
            expected = f"whole bits per second for each of {self.planes} planes"
            raise mistakes_at({"rate": mistake(expected, "change it, or planes", RATE.format(self.rate_bps))})
        return self

    @property
    def _hosts(self) -> int:
        return self.leaves * self.hosts_per_leaf

    def host_names(self) -> tuple[str, ...]:
        """Leaf by leaf."""
        return tuple(f"h{index}" for index in range(self._hosts))

    def switch_names(self) -> tuple[str, ...]:
        """Splitters by host, then plane by plane leaves and spines."""
        return tuple(f"s{index}" for index in range(self._hosts + self.planes * (self.leaves + self.spines)))

    def switches(self) -> tuple[Switch, ...]:
        """Splitters hold whatever comes, and trim nothing."""
        splitters = (Switch(f"s{host}", None, 1.0, "shared", is_nic=True) for host in range(self._hosts))
        return (*splitters, *super().switches()[self._hosts :])

    def links(self) -> tuple[Link, ...]:
        """Those within hosts, then plane by plane ports of NICs and uplinks of leaves."""
        ends = [pair for plane in range(self.planes) for pair in self._ends(plane)]
        part_bps = self.rate_bps // self.planes
        return (
            *(Link(f"h{host}", f"s{host}", self.rate_bps, 0) for host in range(self._hosts)),
            *(Link(f"s{a}", f"s{b}", part_bps, self.delay_ns) for a, b in ends),
        )

    def _ends(self, plane: int) -> list[tuple[int, int]]:
        """Numbers of the switches at both ends of each link of a plane."""
        leaf = self._hosts + plane * (self.leaves + self.spines)
        spine = leaf + self.leaves
        ports = [(host, leaf + host // self.hosts_per_leaf) for host in range(self._hosts)]
        return ports + [(leaf + a, spine + b) for a in range(self.leaves) for b in range(self.spines)]

    def path_rate_bps(self, path: PathShape) -> int:
        """Return the rate of all planes at once."""
        return min(path[0][0], path[-1][0], self.planes * super().path_rate_bps(path))
