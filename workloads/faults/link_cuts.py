"""Links that are down for a while: one that is named, or several that are drawn."""

from collections.abc import Collection, Sequence
from random import Random
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.faults.fault import Fault, TargetedFault, links_between_switches
from rogue.workloads.specification import Delay, Time, mistake, mistakes_at
from rogue.workloads.topologies.graph import Link, dispensable
from rogue.workloads.topologies.topology import Topology

FAILURES_MAX: Final = 10_000
"""Links that fail at random: each failure is one event."""


class LinkCut(TargetedFault):
    """A link that carries nothing for a while: packets on it are lost, later packets are dropped.

    With `reroute_after` switches notice and forward around it, all at one instant. Packets of a queue pair
    that uses one path keep the path that they left on; sprayed packets turn at the next switch. Where no path
    is left, switches forward as before. Switches never notice an outage shorter than `reroute_after`. Detours
    may go down and up again; with +pfc ports can then wait for each other in a loop. Outages of one link,
    with the same `reroute_after`, that adjoin or overlap are one, also in the events.
    """

    kind: Literal["link_cut"] = "link_cut"
    at_ns: Delay
    """When it goes down."""
    duration_ns: Time
    """How long it is down."""
    reroute_after_ns: Delay | None = None
    """Delay until switches leave it out, and until they use it again when it is back; by default never."""
    one_way: bool = False
    """Lose only packets from the first of `target` to the second; of a host, what it sends."""

    @model_validator(mode="after")
    def _check_one_way(self) -> Self:
        if self.one_way and self.reroute_after_ns is not None:
            raise mistakes_at({"one_way": mistake("no reroute_after beside it", "leave one of them out")})
        return self

    def ends(self, link: Link) -> tuple[str, str]:
        """Return the ends of its link; with `one_way` in the direction that loses packets."""
        is_back = self.one_way and self.target.partition("-")[0] == link.b
        return (link.b, link.a) if is_back else (link.a, link.b)

    @property
    def is_noticed(self) -> bool:
        """True if switches forward around it."""
        return self.reroute_after_ns is not None and self.reroute_after_ns < self.duration_ns

    def changes(self) -> list[tuple[int, str]]:
        end_ns = self.at_ns + self.duration_ns
        changes = [(self.at_ns, "link_cut"), (end_ns, "link_restored")]
        if self.reroute_after_ns is None or not self.is_noticed:
            return changes
        known = [(self.at_ns, "rerouted"), (end_ns, "routed_back")]
        return [*changes, *((t_ns + self.reroute_after_ns, event) for t_ns, event in known)]

    def is_there(self, topology: Topology) -> bool:
        link = self.link(topology)
        if link is None or self.reroute_after_ns is None:
            return link is not None
        return {link.a, link.b} <= set(topology.switch_names())  # there is no detour around a host's link

    def expected_target(self, topology: Topology) -> str:
        if self.reroute_after_ns is None:
            return super().expected_target(topology)
        between = links_between_switches(topology)
        if not between:
            return "no reroute_after, because no two switches are neighbours"
        return f"two switches that are neighbours, such as {between[-1].a}-{between[-1].b}, for reroute_after"


class LinkFailures(TargetedFault):
    """Links between switches that go down at random, each once; the cell's seed draws them.

    Each is one link cut. All transports of a repetition meet the same failures; each repetition has others.
    The remaining links join all switches, also beside other faults that cut links, unless there are not
    enough other links to draw. Detours are those of `link_cut`.
    """

    kind: Literal["link_failures"] = "link_failures"
    target: Annotated[str, Field(pattern=r"^(any|s[0-9]+)$")] = "any"
    """Links between any two switches, or those of one switch to others, such as s0."""
    links: Annotated[int, Field(ge=1, le=FAILURES_MAX)] = 1
    """How many go down."""
    at_ns: Delay
    """When they go down."""
    within_ns: Delay = 0
    """Each goes down at a random instant, at most this long after `at`."""
    duration_ns: Time
    """How long each is down."""
    reroute_after_ns: Delay | None = None
    """As for `link_cut`: how long switches take to notice that a link is down or up again."""

    def _candidates(self, topology: Topology) -> list[Link]:
        return [link for link in links_between_switches(topology) if self.target in ("any", link.a, link.b)]

    def is_there(self, topology: Topology) -> bool:
        return len(self._candidates(topology)) >= self.links

    def drawn(self, topology: Topology, stream: Random, struck: Collection[Link]) -> Sequence[Fault]:
        links = self._candidates(topology)
        stream.shuffle(links)
        whole = [link for link in links_between_switches(topology) if link not in struck]
        chosen = dispensable(whole, [link for link in links if link not in struck], self.links)
        chosen += [link for link in links if link in struck][: self.links - len(chosen)]
        return [
            LinkCut.model_construct(  # the values are checked
                target=f"{link.a}-{link.b}",
                at_ns=self.at_ns + stream.randint(0, self.within_ns),
                duration_ns=self.duration_ns,
                reroute_after_ns=self.reroute_after_ns,
            )
            for link in chosen
        ]

    def described_target(self) -> str:
        return f"{self.links} links of {self.target}"

    def expected_target(self, topology: Topology) -> str:
        where = "between switches" if self.target == "any" else f"of {self.target} to other switches"
        count = len(self._candidates(topology))
        return f"any or a switch as target, and at most {count} links, as there are {where}"
