"""Links between switches that go down at random."""

from collections.abc import Collection, Sequence
from random import Random
from typing import Annotated, Final, Literal

from pydantic import Field

from rogue.workloads.faults.fault import Fault, links_between_switches
from rogue.workloads.faults.link_cut import LinkCut
from rogue.workloads.specification import Delay, Time
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.shortest_paths import dispensable
from rogue.workloads.topologies.topology import Topology

FAILURES_MAX: Final = 10_000
"""Links that fail at random: each is looked at when its time comes."""


class LinkFailures(Fault):
    """Links between switches that go down at random, each once: which ones, the cell's seed decides.

    Each is one link cut. All transports of a repetition meet the same failures, each repetition
    others. What is left joins all switches, also beside other faults that cut links, unless there are not
    enough other links to draw. Ways around are those of `link_cut`.
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
    """Of each of them, as of `link_cut`: how long switches take to know that it is down, or back."""

    def _is_meant(self, link: Link) -> bool:
        return self.target in ("any", link.a, link.b)

    def is_there(self, topology: Topology) -> bool:
        """True if the topology has that number of links between switches."""
        return sum(map(self._is_meant, links_between_switches(topology))) >= self.links

    def drawn(self, topology: Topology, stream: Random, struck: Collection[Link]) -> Sequence[Fault]:
        """Return a cut of each link that was drawn, at first of links that no other fault has cut."""
        between = links_between_switches(topology)
        links = [link for link in between if self._is_meant(link)]
        stream.shuffle(links)
        whole = [link for link in between if link not in struck]
        chosen = dispensable(whole, [link for link in links if link not in struck], self.links)
        chosen += [link for link in links if link in struck][: self.links - len(chosen)]
        return [
            LinkCut.model_construct(  # of values that were checked
                target=f"{link.a}-{link.b}",
                at_ns=self.at_ns + stream.randint(0, self.within_ns),
                duration_ns=self.duration_ns,
                reroute_after_ns=self.reroute_after_ns,
            )
            for link in chosen
        ]

    def asked(self) -> str:
        """Return what does not fit where there are fewer links."""
        return f"{self.links} links of {self.target}"

    def expected_target(self, topology: Topology) -> str:
        """Return what a target may be, and how many links there are."""
        there = sum(map(self._is_meant, links_between_switches(topology)))
        whose = "between switches" if self.target == "any" else f"of {self.target} to other switches"
        return f"any or a switch as target, and at most {there} links, as there are {whose}"
