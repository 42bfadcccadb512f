"""NICs with several ports, each into a separate network."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Rate, mistake, mistakes_at
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.shortest_paths import PathShape
from rogue.workloads.topologies.topology import HOSTS_MAX, Switch, Topology, numbered
from rogue.workloads.units import RATE

PLANES_MAX: Final = 64
SWITCHES_MAX: Final = 1024


class MultiPlane(Topology):
    """Hosts whose NIC has a port in each plane, which is a separate network of leaves and spines.

    Each port, and every link of a plane, has an equal part of the NIC's rate. By default leaves have as many
    uplinks as hosts. With `spines: 0` a plane is one leaf. Hosts are numbered leaf by leaf, and have the same
    place in every plane. Only NICs join planes.

    Because a host has one link in this model, a small switch, the *splitter*, models the ports of its NIC:
    s0 belongs to h0, s1 to h1 and so on; the leaves and spines of the first plane follow, then those of the
    second. A splitter chooses a plane as any switch chooses among equal links, by a hash of the packet's
    entropy. The data of a plain queue pair therefore stay in one plane and have the rate of one port; its
    acknowledgements stay in one plane, which may be another. With `+spray` and `uet` each packet may take
    another plane. With few entropies the load is uneven (of 64 over 4 planes, one gets about 20 instead of
    16, which costs a fifth of the rate): set more of them with `paths`.

    A splitter stores all packets. It drops, marks and trims nothing, writes no telemetry, sends no rates, and
    takes no part in `switch_controls`. With `+pfc` it obeys pauses, and pauses its leaves and its host when
    more than `pause_xoff` waits (by default 128 KB, as in a slow receiver's NIC). The model has these limits:

    - A packet is stored and forwarded twice more, so the base round trip has four more hops, without length;
      the cable inside has its part of `delay_spread`.
    - Packets that a NIC would hold back wait in the splitter, because a queue pair begins at the rate of its
      host, which is that of `planes` ports. Round trips include that wait; the tables of queues and pauses do
      not, because they exclude NICs. Counters include the ports of splitters.
    - No congestion control knows of planes: one window or rate serves all of them, and a splitter does not
      avoid a busy port. Real NICs may choose a free port, as those of uet-htsim do.
    - A splitter forwards. Where a port has no link and NICs and switches know (`reroute_after`), packets
      already on their path to it reach its host over another host's splitter, which no NIC would do.
    - Functions of ports to hosts (the pause watchdog, the exemption of `+rccc`) act at the splitter's port,
      not at the leaf's.

    Thresholds in bytes are for the rate of a host: `thresholds: rate` scales them to each port's rate. The
    ideal goodput is that of all planes together. The ideal completion time is that of the planes that packets
    may take: one for a plain queue pair, all of them for a sprayed one.

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
    """How many spines each plane has, and uplinks each leaf; 0: a plane is one leaf."""
    rate_bps: Rate
    """Rate of a NIC, a multiple of `planes`; each link of a plane has an equal part of it."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        hosts = self._hosts
        if not 2 <= hosts <= HOSTS_MAX:
            found = mistake(f"from 2 to {HOSTS_MAX} hosts", "change it, or leaves", f"{hosts} hosts")
            raise mistakes_at({"hosts_per_leaf": found})
        if self.leaves > 1 and not self.spines:
            found = mistake("1 with spines: 0, because only spines join leaves", "lower it", f"{self.leaves}")
            raise mistakes_at({"leaves": found})
        if self.rate_bps % self.planes:
            expected = f"whole bits per second for each of {self.planes} planes"
            raise mistakes_at({"rate": mistake(expected, "change it, or planes", RATE.format(self.rate_bps))})
        return self

    @property
    def _hosts(self) -> int:
        return self.leaves * self.hosts_per_leaf

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", self._hosts)

    def switch_names(self) -> tuple[str, ...]:
        return numbered("s", self._hosts + self.planes * (self.leaves + self.spines))

    def switches(self) -> tuple[Switch, ...]:
        """Return splitters, which store everything and trim nothing, then leaves and spines."""
        splitters = (Switch(f"s{host}", None, 1.0, "shared", is_nic=True) for host in range(self._hosts))
        return (*splitters, *super().switches()[self._hosts :])

    def links(self) -> tuple[Link, ...]:
        """Return links within hosts, then plane by plane ports of NICs and uplinks of leaves."""
        ends = [pair for plane in range(self.planes) for pair in self._ends(plane)]
        part_bps = self.rate_bps // self.planes
        return (
            *(Link(f"h{host}", f"s{host}", self.rate_bps, 0) for host in range(self._hosts)),
            *(Link(f"s{a}", f"s{b}", part_bps, self.delay_ns) for a, b in ends),
        )

    def _ends(self, plane: int) -> list[tuple[int, int]]:
        """Return the numbers of the switches at both ends of each link of a plane."""
        leaf = self._hosts + plane * (self.leaves + self.spines)
        spine = leaf + self.leaves
        ports = [(host, leaf + host // self.hosts_per_leaf) for host in range(self._hosts)]
        return ports + [(leaf + a, spine + b) for a in range(self.leaves) for b in range(self.spines)]

    def path_rate_bps(self, path: PathShape) -> int:
        """Return the rate of all planes at once."""
        return min(path[0][0], path[-1][0], self.planes * super().path_rate_bps(path))
