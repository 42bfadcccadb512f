"""Groups of traffic in a cell: their flows, transport and traffic class."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, get_args

from rogue.agent.core.settings import TransportSettings
from rogue.harness.cell.group_settings import GroupSettings, TcpSettings, group_settings
from rogue.harness.cell.transport import ParameterError, ParameterMistake
from rogue.harness.experiment.choices import Scalar, TrafficGroup
from rogue.workloads.topologies import Placement, Topology
from rogue.workloads.traffic import Flow, Verb, Workload
from rogue.workloads.traffic.transfer_graph import TransferOrder
from rogue.workloads.transports import TransportName


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector while many objects are made that all stay: it would double the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Demand(NamedTuple):
    """All that decides the flows of a group: what is worked out from these is looked up by it."""

    workload: Workload
    placement: Placement
    seed: int
    verbs: tuple[tuple[Verb, Verb], ...]
    """Each verb, with the verb that moves the bytes: the only property of a transport that changes flows."""

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Return the flows; drawn once, because a hundred thousand arrivals take a while."""
        return _flows(self)

    @property
    def order(self) -> TransferOrder:
        """The order in which transfers wait for each other; derived once, because there may be millions."""
        return _order(self)

    @property
    def replaced(self) -> tuple[tuple[Verb, Verb], ...]:
        """Return the requested verbs that another verb replaces."""
        requested = {flow.verb for flow in _drawn(self.workload, self.placement, self.seed)}
        return tuple((verb, instead) for verb, instead in self.verbs if verb in requested and verb != instead)


def carried_verbs(transport: TransportName) -> tuple[tuple[Verb, Verb], ...]:
    """Return each verb with the verb that moves the bytes."""
    return tuple((verb, transport.carried(verb)) for verb in get_args(Verb))


@lru_cache(maxsize=8)
@gc_paused()
def _drawn(workload: Workload, placement: Placement, seed: int) -> tuple[Flow, ...]:
    return workload.flows(placement, seed)


@lru_cache(maxsize=2)
@gc_paused()
def _order(demand: Demand) -> TransferOrder:
    return TransferOrder(demand.flows)


@lru_cache(maxsize=8)
def _flows(demand: Demand) -> tuple[Flow, ...]:
    carried = dict(demand.verbs)
    return tuple(
        flow if carried[flow.verb] == flow.verb else replace(flow, verb=carried[flow.verb])
        for flow in _drawn(demand.workload, demand.placement, demand.seed)
    )


PROBE_GROUP: Final = "probe"
PROBE_TRANSPORT: Final = TransportName("roce")


@dataclass(frozen=True)
class FlowGroup:
    """The transport that carries the flows of one name."""

    name: str
    """The name of the traffic group, or of the probe."""
    transport: TransportName
    label: str
    """The transport's name in results."""
    parameters: Mapping[str, Scalar]
    """Of the transport, as written."""
    priority: int
    """Traffic class in the network."""
    topology: Topology = field(repr=False)

    @cached_property
    def settings(self) -> GroupSettings:
        """Return its parameters for all testbeds, translated once; ParameterError if one cannot be."""
        return group_settings(self.topology, self.transport, self.parameters)

    @property
    def duration_ns(self) -> int | None:
        """Return the time at which its flows end; None if they end with their transfers."""
        return None


@dataclass(frozen=True)
class Group(FlowGroup):
    """A traffic group with its transport, workload and flows."""

    spec: TrafficGroup
    """The group as the experiment file has it."""
    demand: Demand

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Return its flows; a verb that its transport does not have is replaced."""
        return self.demand.flows

    @property
    def duration_ns(self) -> int | None:
        """Return the time at which its workload ends; None if it ends with its transfers."""
        return self.spec.workload.duration_ns

    @property
    def tells_arrivals(self) -> bool:
        """True if it is measured by arrivals without transfers that wait; UC may lose bytes."""
        return self.spec.workload.is_whole and self.transport.service != "uc"

    def states(self, key: str) -> bool:
        """True if a parameter is the group's and not the cell's."""
        return self.spec.transport is not None or key in self.spec.parameters


@dataclass(frozen=True, slots=True)
class PlannedFlow:
    """A flow and the group that carries it; testbeds extend it by what they plan or run."""

    carrier: FlowGroup
    flow: Flow
    is_probe: bool = False
    """The flow is the experiment's probe: it measures latency and moves nothing."""

    @property
    def flow_id(self) -> str:
        """Return the name: group and ends."""
        return self.flow.name_in(self.carrier.name)

    @property
    def settings(self) -> TransportSettings | TcpSettings:
        """Return the settings of what drives it: the agent at its initiator, or a TCP."""
        return self.carrier.settings.of_host(self.carrier.topology.host_rate_bps(self.flow.initiator))


def first_mistake(
    groups: Sequence[Group], parameters: Mapping[str, Scalar], check: Callable[[Group], object]
) -> ParameterMistake | None:
    """Return the first ParameterError of a check of every group, with the group if the parameter is its own.

    parameters: of the cell's transport, which carries nothing where every group has its own transport.
    """
    for group in groups:
        try:
            check(group)
        except ParameterError as error:
            is_own = group.states(error.mistake.key)
            return replace(error.mistake, group=group.name) if is_own else error.mistake
    if parameters and all(group.spec.transport is not None for group in groups):
        expected = "no parameter of a transport that carries nothing: every group has its own"
        return ParameterMistake(next(iter(parameters)), expected, "state it in a group's parameters")
    return None


@lru_cache(maxsize=8)
def moved_share(topology: Topology, demand: Demand, traffic_ns: int) -> float:
    """Return the part of a demand's finite bytes that its receivers can receive while the traffic lasts.

    1 where the cell waits for every transfer.
    """
    asked_bits = 8 * sum(flow.finite_bytes for flow in demand.flows)
    if demand.workload.duration_ns is None or not asked_bits:
        return 1.0
    receivers = {flow.destination for flow in demand.flows}
    return min(1.0, sum(map(topology.host_rate_bps, receivers)) * traffic_ns / 1e9 / asked_bits)
