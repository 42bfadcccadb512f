"""The links that a cell asks for: rates, delays, losses and outages."""

from collections.abc import Sequence
from dataclasses import dataclass

from rogue.workloads.faults import Fault, LinkCut, Loss
from rogue.workloads.topologies import Link, Topology


@dataclass(frozen=True, slots=True)
class LinkAsked:
    """A full-duplex link."""

    a: str
    b: str
    rate_bps: int
    delay_ns: int
    """One way."""
    delay_spread_ns: int
    """It is longer by up to this, drawn from the cell's seed."""
    losses: tuple[Loss, ...]
    """Of each direction on its own; one that loses nothing is among them."""

    @property
    def ports(self) -> tuple[str, str]:
        """Both directions."""
        return _ports(self.a, self.b)


@dataclass(frozen=True, slots=True)
class OutageAsked:
    """A link carries nothing for a while, counted from the start of the traffic."""

    a: str
    b: str
    at_ns: int
    duration_ns: int
    reroute_after_ns: int | None = None
    """Switches forward around it from then on, counted from its beginning, and so long beyond its end; None
    also if it is over by then."""
    one_way: bool = False
    """Whether only what goes from `a` to `b` is lost."""

    @property
    def ports(self) -> tuple[str, ...]:
        """The directions that are lost."""
        return _ports(self.a, self.b)[: 1 if self.one_way else 2]


def links_asked(topology: Topology, faults: Sequence[Fault]) -> tuple[LinkAsked, ...]:
    """Every link, in the order of the topology."""
    losses: dict[Link, list[Loss]] = {}
    for fault in faults:
        if isinstance(fault, Loss):
            losses.setdefault(_struck(fault, topology), []).append(fault)
    spread_ns = topology.delay_spread_ns
    return tuple(
        LinkAsked(link.a, link.b, link.rate_bps, link.delay_ns, spread_ns, tuple(losses.get(link, ())))
        for link in topology.links()
    )


def outages_asked(topology: Topology, faults: Sequence[Fault]) -> tuple[OutageAsked, ...]:
    """Every outage; those of one link that are one are joined already."""
    cuts = ((fault, _struck(fault, topology)) for fault in faults if isinstance(fault, LinkCut))
    return tuple(
        OutageAsked(
            *cut.ends(link),
            cut.at_ns,
            cut.duration_ns,
            cut.reroute_after_ns if cut.is_noticed else None,
            cut.one_way,
        )
        for cut, link in cuts
    )


def _struck(fault: Fault, topology: Topology) -> Link:
    link = fault.link(topology)
    assert link is not None, "an experiment with a fault that strikes no link"
    return link


def _ports(a: str, b: str) -> tuple[str, str]:
    return f"{a}->{b}", f"{b}->{a}"
