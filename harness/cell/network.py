"""Describe the network that a cell requests: links, switches and ports."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from rogue.harness.cell.demand import FlowGroup
from rogue.harness.cell.marking import MarkingCurve
from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import Breakage, Fault, LinkCut, Loss, PacketEvent
from rogue.workloads.framing import FRAMINGS, Packets
from rogue.workloads.streams import random_stream
from rogue.workloads.topologies import Link, Switch, Topology


@dataclass(frozen=True, slots=True)
class OutageSpec:
    """A link carries nothing for a while, counted from the start of the traffic."""

    a: str
    b: str
    at_ns: int
    duration_ns: int
    reroute_after_ns: int | None = None
    """Switches forward around it this long after its beginning, and until this long after its end.

    None also if it is over by then.
    """
    one_way: bool = False
    """True if only packets from `a` to `b` are lost."""

    @property
    def ports(self) -> tuple[str, ...]:
        """Return the directions that are lost."""
        there, back = f"{self.a}->{self.b}", f"{self.b}->{self.a}"
        return (there,) if self.one_way else (there, back)


def losses_by_link(topology: Topology, faults: Sequence[Fault]) -> dict[Link, tuple[Loss, ...]]:
    """Return the losses of links that have some; one that loses nothing is among them."""
    losses: dict[Link, tuple[Loss, ...]] = {}
    for fault in faults:
        if isinstance(fault, Loss):
            link = _link_of(fault, topology)
            losses[link] = (*losses.get(link, ()), fault)
    return losses


def outage_specs(topology: Topology, faults: Sequence[Fault]) -> tuple[OutageSpec, ...]:
    """Return every outage; overlapping ones of one link are already joined."""
    cuts = ((fault, _link_of(fault, topology)) for fault in faults if isinstance(fault, LinkCut))
    return tuple(
        OutageSpec(
            *cut.ends(link),
            cut.at_ns,
            cut.duration_ns,
            cut.reroute_after_ns if cut.is_noticed else None,
            cut.one_way,
        )
        for cut, link in cuts
    )


def _link_of(fault: LinkCut | Loss, topology: Topology) -> Link:
    link = fault.link(topology)
    assert link is not None, "an experiment with a fault that strikes no link"
    return link


ETHERNET_BYTES: Final = 18
"""Link header 14 and frame check sequence 4."""


class SwitchPort(NamedTuple):
    """An egress port of a switch."""

    switch: Switch
    """Its ports share the buffer."""
    link: Link


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pause threshold of a switch; a link resumes two of the largest frames below it."""

    alpha: float
    """Packets from the link may hold alpha times the free part of the buffer."""
    xoff_bytes: int | None
    """Instead of alpha: a fixed threshold."""
    headroom_bytes: int | None
    """For what still comes over a paused link; None: as the link needs it."""
    watchdog_ns: int | None
    """A port to a host that is paused for longer drops its queue; None: never."""
    watchdog_restore_ns: int
    """The port sends again after this time without a pause."""


@dataclass(frozen=True, slots=True)
class PrioritySpec:
    """A traffic class, on every port of every switch."""

    curves: tuple[MarkingCurve, ...]
    """The requests of its groups without repetition. A switch has one."""
    pauses: Pauses | None
    is_pause_disputed: bool
    """Some of its groups request pauses, others do not."""
    weight: int | None = None
    """Its share of what is left beside those that have none, which go first."""

    @property
    def marks(self) -> MarkingCurve | None:
        """Return the marking curve of its packets."""
        return self.curves[0] if self.curves else None


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """The switches and links that a cell requests."""

    ports: Mapping[str, SwitchPort]
    """Every egress of a switch, by name, such as `s0->h1`."""
    priorities: Mapping[int, PrioritySpec]
    """Those that carry groups, in the order of the groups."""
    ip_packet_bytes: int
    """Of the largest packet, which every port has to carry."""
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]
    losses: Mapping[Link, tuple[Loss, ...]]
    """Of links that have some; each direction loses packets independently of the other."""
    delay_spread_ns: int
    """Every link is longer by up to this, drawn from the cell's seed."""
    outages: tuple[OutageSpec, ...]
    """Of links, as written."""
    breakages: tuple[Breakage, ...]
    """Hosts and switches that do what they should not, as written."""
    packet_events: tuple[PacketEvent, ...]
    """What happens to single packets, as written."""

    @property
    def contradiction(self) -> str | None:
        """Return why no switch can meet the request; None if one can."""
        for priority, requested in self.priorities.items():
            if requested.is_pause_disputed:
                return f"priority {priority} has groups with and without +pfc: give them different priorities"
        for priority, requested in self.priorities.items():
            if len(requested.curves) > 1:
                asks = "has groups that ask for different markings"
                return f"priority {priority} {asks}: give them different priorities"
        return None

    @property
    def curves(self) -> Mapping[int, MarkingCurve]:
        """Return the marking curves by priority."""
        return {
            each: requested.marks
            for each, requested in self.priorities.items()
            if requested.marks is not None
        }

    @property
    def weights(self) -> Mapping[int, int]:
        """Return the weights of priorities that share a port."""
        return {
            each: requested.weight
            for each, requested in self.priorities.items()
            if requested.weight is not None
        }

    @property
    def pausing(self) -> Mapping[int, Pauses]:
        """Return the pause settings by priority."""
        return {
            each: requested.pauses
            for each, requested in self.priorities.items()
            if requested.pauses is not None
        }


def network_spec(
    topology: Topology, carriers: Sequence[FlowGroup], faults: Sequence[Fault] = ()
) -> NetworkSpec:
    """Combine a topology, its transports and faults; ParameterError if a parameter cannot be."""
    by_priority: dict[int, list[FlowGroup]] = {}
    for carrier in carriers:
        by_priority.setdefault(carrier.priority, []).append(carrier)
    return NetworkSpec(
        ports=egress_ports(topology),
        priorities={each: _priority(topology, each, found) for each, found in by_priority.items()},
        ip_packet_bytes=max(_ip_packet_bytes(topology, carrier) for carrier in carriers),
        switches=tuple(topology.switches()),
        links=topology.links(),
        losses=losses_by_link(topology, faults),
        delay_spread_ns=topology.delay_spread_ns,
        outages=outage_specs(topology, faults),
        breakages=tuple(fault for fault in faults if isinstance(fault, Breakage)),
        packet_events=tuple(fault for fault in faults if isinstance(fault, PacketEvent)),
    )


def egress_ports(topology: Topology) -> dict[str, SwitchPort]:
    """Return every egress of a switch, by name."""
    return {
        f"{switch.name}->{peer}": SwitchPort(switch, link)
        for switch in topology.switches()
        for peer, link in topology.links_of[switch.name].items()
    }


def _ip_packet_bytes(topology: Topology, carrier: FlowGroup) -> int:
    """Return a full packet's bytes without Ethernet's 18; the first of a WRITE has 16 more (RETH)."""
    packets = carrier.transport.packets or Packets(FRAMINGS[topology.framing], topology.mtu_bytes)
    return packets.frame_bytes + packets.framing.remote_address_bytes - ETHERNET_BYTES


def _priority(topology: Topology, number: int, carriers: Sequence[FlowGroup]) -> PrioritySpec:
    curves = dict.fromkeys(carrier.settings.marking for carrier in carriers)
    has_pauses = {carrier.transport.has_pauses for carrier in carriers}
    return PrioritySpec(
        curves=tuple(curve for curve in curves if curve is not None),
        pauses=_pauses(topology) if True in has_pauses else None,
        is_pause_disputed=len(has_pauses) > 1,
        weight=next(iter(topology.weights[number : number + 1]), 0) or None,
    )


def _pauses(topology: Topology) -> Pauses:
    return Pauses(
        alpha=topology.pause_alpha,
        xoff_bytes=topology.pause_xoff_bytes,
        headroom_bytes=topology.pause_headroom_bytes,
        watchdog_ns=topology.pause_watchdog_ns,
        watchdog_restore_ns=topology.pause_watchdog_restore_ns,
    )


_Same: TypeAlias = tuple[tuple[str, str], bool, int | None]


def faults_struck(experiment: Experiment, seed: int) -> tuple[Fault, ...]:
    """Return the faults of an experiment, drawn in order; later ones spare links that earlier ones cut.

    Outages of one link and with the same `reroute_after` that adjoin or overlap are one.
    """
    return _struck(experiment.topology, tuple(experiment.faults), seed) if experiment.faults else ()


@lru_cache(maxsize=16)
def _struck(topology: Topology, faults: tuple[Fault, ...], seed: int) -> tuple[Fault, ...]:
    """Draw the faults once for all cells of one seed, because large networks take a second."""
    struck = _cut(topology, faults)
    found: list[Fault] = []
    for number, fault in enumerate(faults):
        drawn = fault.drawn(topology, random_stream(seed, f"faults/{number}"), struck)
        struck |= _cut(topology, drawn)
        found += drawn
    return tuple(_joined(topology, found))


def _joined(topology: Topology, faults: Sequence[Fault]) -> Iterable[Fault]:
    outages: dict[_Same, list[LinkCut]] = {}
    for cut in sorted((fault for fault in faults if isinstance(fault, LinkCut)), key=lambda cut: cut.at_ns):
        of_link = outages.setdefault(_same(topology, cut), [])
        if of_link and cut.at_ns <= _end_ns(of_link[-1]):
            end_ns = max(_end_ns(cut), _end_ns(of_link[-1]))
            of_link[-1] = of_link[-1].model_copy(update={"duration_ns": end_ns - of_link[-1].at_ns})
        else:
            of_link.append(cut)
    for fault in faults:
        yield from outages.pop(_same(topology, fault), ()) if isinstance(fault, LinkCut) else (fault,)


def _end_ns(cut: LinkCut) -> int:
    return cut.at_ns + cut.duration_ns


def _same(topology: Topology, cut: LinkCut) -> _Same:
    """Return a key that outages share if they can be merged."""
    link = cut.link(topology)
    assert link is not None, "an experiment with an outage of no link"
    return cut.ends(link), cut.one_way, cut.reroute_after_ns


def _cut(topology: Topology, faults: Iterable[Fault]) -> set[Link]:
    cut = (fault.link(topology) for fault in faults if isinstance(fault, LinkCut))
    return {link for link in cut if link is not None}
