"""Groups of traffic in a cell: their flows, transport and traffic class."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple, get_args

from rogue.harness.cell.garbage import gc_paused
from rogue.harness.experiment.choices import Scalar, TrafficGroup
from rogue.workloads.topologies import Placement
from rogue.workloads.traffic import Flow, Verb, Workload
from rogue.workloads.traffic.waiting import WaitingOrder
from rogue.workloads.transports import TransportName


class Demand(NamedTuple):
    """All that decides the flows of a group: what is worked out from these is looked up by it."""

    workload: Workload
    placement: Placement
    seed: int
    verbs: tuple[tuple[Verb, Verb], ...]
    """Each verb that may be asked for, with the one that moves the bytes: all that a transport changes."""

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows; drawn once, because a hundred thousand arrivals take a while."""
        return _carried(self)

    @property
    def order(self) -> WaitingOrder:
        """The order in which transfers wait for each other; worked out once, for there may be millions."""
        return _order(self)

    @property
    def replaced(self) -> tuple[tuple[Verb, Verb], ...]:
        """The verbs asked for that another verb replaces."""
        asked = {flow.verb for flow in _drawn(self.workload, self.placement, self.seed)}
        return tuple((verb, instead) for verb, instead in self.verbs if verb in asked and verb != instead)


def carried_verbs(transport: TransportName) -> tuple[tuple[Verb, Verb], ...]:
    """Each verb that may be asked for, with the one that moves the bytes."""
    return tuple((verb, transport.carried(verb)) for verb in get_args(Verb))


@lru_cache(maxsize=8)
@gc_paused()
def _drawn(workload: Workload, placement: Placement, seed: int) -> tuple[Flow, ...]:
    return workload.flows(placement, seed)


@lru_cache(maxsize=2)
@gc_paused()
def _order(demand: Demand) -> WaitingOrder:
    return WaitingOrder(demand.flows)


@lru_cache(maxsize=8)
def _carried(demand: Demand) -> tuple[Flow, ...]:
    carried = dict(demand.verbs)
    return tuple(
        flow if carried[flow.verb] == flow.verb else replace(flow, verb=carried[flow.verb])
        for flow in _drawn(demand.workload, demand.placement, demand.seed)
    )


PROBE_GROUP: Final = "probe"
PROBE_TRANSPORT: Final = TransportName("roce")


@dataclass(frozen=True, slots=True)
class FlowGroup:
    """What carries the flows of one name."""

    name: str
    """The name of the traffic group, or of the probe."""
    transport: TransportName
    label: str
    """What results call the transport."""
    parameters: Mapping[str, Scalar]
    """Of the transport, as written."""
    priority: int
    """Traffic class in the network."""

    @property
    def duration_ns(self) -> int | None:
        """When its flows end by the clock; None: when all their transfers are done."""
        return None


@dataclass(frozen=True, slots=True)
class Group(FlowGroup):
    """A traffic group: its transport, and what it asks of the network."""

    asked: TrafficGroup
    """The group as the experiment file has it."""
    demand: Demand

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Its flows; a verb that its transport does not have is replaced."""
        return self.demand.flows

    @property
    def duration_ns(self) -> int | None:
        """When its workload ends by the clock; None: when all its transfers are done."""
        return self.asked.workload.duration_ns

    @property
    def tells_arrivals(self) -> bool:
        """Whether it is measured by arrivals, though nothing waits for them; what UC loses has none."""
        return self.asked.workload.is_whole and self.transport.service != "uc"

    def states(self, key: str) -> bool:
        """Whether a parameter is its own rather than the cell's."""
        return self.asked.transport is not None or key in self.asked.parameters


@dataclass(frozen=True, slots=True)
class PlannedFlow:
    """One flow and what carries it."""

    carrier: FlowGroup
    flow: Flow
    is_probe: bool = False
    """The flow is the experiment's probe: it measures latency and moves nothing."""

    @property
    def flow_id(self) -> str:
        """Group and ends."""
        return self.flow.name_in(self.carrier.name)
