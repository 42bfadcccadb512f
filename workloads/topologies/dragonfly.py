"""The dragonfly: groups of switches, all joined to each other, with links between any two groups."""

from itertools import combinations
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Delay, Rate, mistake, mistakes_at
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import Topology, check_host_count, numbered

SWITCHES_MAX: Final = 64


class Dragonfly(Topology):
    """Groups of switches that are all joined to each other; each switch has hosts, and links to other groups.

    Hosts and switches are numbered group by group. With a switches per group, h links of each to other groups
    and g groups, the links of a group go to the other groups in turn: a h / (g - 1) between any two. By
    default there are a h + 1 groups, as many as can be joined, with one link between any two. A balanced
    network has a = 2 p = 2 h, where p is the number of hosts of a switch.

    Packets take shortest paths: at most one link between groups, with one link within a group before it and
    one after it, or two links between groups, over a third one, where that is as short. Switches never send
    packets on a longer path around congestion.

    Source: Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008,
    section 3.
    """

    kind: Literal["dragonfly"] = "dragonfly"
    switches_per_group: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 4
    """How many switches each group has."""
    hosts_per_switch: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 2
    """How many hosts each switch has."""
    global_links: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 2
    """How many links to other groups each switch has."""
    groups: Annotated[int, Field(ge=2, le=SWITCHES_MAX**2 + 1)] | None = None
    """How many groups; by default switches_per_group * global_links + 1."""
    rate_bps: Rate
    """Rate of every link."""
    global_delay_ns: Delay | None = None
    """Propagation delay of the long links between groups; by default that of all links."""

    @model_validator(mode="after")
    def _check_groups(self) -> Self:
        links, others = self.switches_per_group * self.global_links, self.groups_count - 1
        if links % others:
            expected = f"a number of groups of which the others share the {links} links of a group evenly"
            raise mistakes_at({"groups": mistake(expected, f"write {links + 1}, or leave it out")})
        if self.global_links > others:
            expected = f"at most {others}, the number of other groups"
            found = mistake(expected, "lower it: two switches are joined once", f"{self.global_links}")
            raise mistakes_at({"global_links": found})
        hosts = self.groups_count * self.switches_per_group * self.hosts_per_switch
        check_host_count(hosts, "hosts_per_switch", "take groups or hosts away")
        return self

    @property
    def groups_count(self) -> int:
        """Return the number of groups."""
        return self.groups or self.switches_per_group * self.global_links + 1

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", self.groups_count * self.switches_per_group * self.hosts_per_switch)

    def switch_names(self) -> tuple[str, ...]:
        return numbered("s", self.groups_count * self.switches_per_group)

    def links(self) -> tuple[Link, ...]:
        """Return hosts' links, then those within each group, then those between groups."""
        size = self.switches_per_group
        within = (
            Link(f"s{group * size + a}", f"s{group * size + b}", self.rate_bps, self.delay_ns)
            for group in range(self.groups_count)
            for a, b in combinations(range(size), 2)
        )
        far_ns = self.delay_ns if self.global_delay_ns is None else self.global_delay_ns
        between = (Link(a, b, self.rate_bps, far_ns) for a, b in self._between_groups())
        return (*self.host_links(self.hosts_per_switch, self.rate_bps), *within, *between)

    def _between_groups(self) -> list[tuple[str, str]]:
        """Return the pairs: the n-th link of a group goes to the n-th following group, cyclically."""
        others = self.groups_count - 1
        pairs = []
        for group in range(self.groups_count):
            for nth in range(self.switches_per_group * self.global_links):
                far, turn = (group + 1 + nth % others) % self.groups_count, nth // others
                back = turn * others + others - 1 - nth % others
                if group < far:
                    pairs.append((self._switch_of(group, nth), self._switch_of(far, back)))
        return pairs

    def _switch_of(self, group: int, nth_link: int) -> str:
        return f"s{group * self.switches_per_group + nth_link // self.global_links}"
