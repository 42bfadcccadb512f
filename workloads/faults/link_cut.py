"""A link that carries nothing for a while."""

from collections.abc import Collection, Sequence
from random import Random
from typing import Literal, Self

from pydantic import model_validator

from rogue.workloads.faults.fault import Fault, links_between_switches
from rogue.workloads.specification import Delay, Time, mistake, mistakes_at
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import Topology


class LinkCut(Fault):
    """A link that carries nothing for a while: what is on it is lost, what comes is dropped.

    With `reroute_after` switches find out and forward around it. They all do so at one instant; packets of a
    queue pair that takes one path keep the way that was theirs when they left, sprayed ones turn at the next
    switch. Where no way is left switches send as before. An outage that is shorter than `reroute_after` is
    never noticed. Ways around may go down and up again; with +pfc ports can then wait for each other in a
    loop. Outages of one link, with the same `reroute_after`, that adjoin or overlap are one, in events too.
    """

    kind: Literal["link_cut"] = "link_cut"
    at_ns: Delay
    """When it goes down."""
    duration_ns: Time
    """How long it is down."""
    reroute_after_ns: Delay | None = None
    """Delay until switches leave it out, and until they use it again when it is back; by default never."""
    one_way: bool = False
    """Whether only what goes from the first of `target` to the second is lost; of a host, what it sends."""

    @model_validator(mode="after")
    def _check_one_way(self) -> Self:
        if self.one_way and self.reroute_after_ns is not None:
            raise mistakes_at({"one_way": mistake("no reroute_after beside it", "leave one of them out")})
        return self

    def ends(self, link: Link) -> tuple[str, str]:
        """Return the ends of its link, from the first of `target` to the second where only that is lost."""
        is_back = self.one_way and self.target.partition("-")[0] == link.b
        return (link.b, link.a) if is_back else (link.a, link.b)

    @property
    def is_noticed(self) -> bool:
        """True if switches forward around it."""
        return self.reroute_after_ns is not None and self.reroute_after_ns < self.duration_ns

    def drawn(self, topology: Topology, stream: Random, struck: Collection[Link]) -> Sequence[Fault]:
        """Return the fault itself."""
        return (self,)

    def changes(self) -> list[tuple[int, str]]:
        """Return when it goes down and is back, and when switches know."""
        end_ns = self.at_ns + self.duration_ns
        changes = [(self.at_ns, "link_cut"), (end_ns, "link_restored")]
        if self.reroute_after_ns is None or not self.is_noticed:
            return changes
        known = [(self.at_ns, "rerouted"), (end_ns, "routed_back")]
        return [*changes, *((t_ns + self.reroute_after_ns, event) for t_ns, event in known)]

    def is_there(self, topology: Topology) -> bool:
        """True if the topology has the link; nothing leads around the link of a host."""
        link = self.link(topology)
        if link is None or self.reroute_after_ns is None:
            return link is not None
        return {link.a, link.b} <= set(topology.switch_names())

    def expected_target(self, topology: Topology) -> str:
        """Return what a target may be."""
        if self.reroute_after_ns is None:
            return super().expected_target(topology)
        between = links_between_switches(topology)
        if not between:
            return "no reroute_after, for no switch has another one as its neighbour"
        return f"two switches that are neighbours, such as {between[-1].a}-{between[-1].b}, for reroute_after"
