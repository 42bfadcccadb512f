"""What carries flows: a transport with its parameters, in a traffic class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rogue.harness.cell.demand import Demand
from rogue.harness.experiment.choices import Scalar, TrafficGroup
from rogue.workloads.traffic import Flow
from rogue.workloads.transports import TransportName

PROBE_GROUP: Final = "probe"
PROBE_TRANSPORT: Final = TransportName("roce")


@dataclass(frozen=True, slots=True)
class Carrier:
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
class Group(Carrier):
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

    carrier: Carrier
    flow: Flow
    is_probe: bool = False
    """The flow is the experiment's probe: it measures latency and moves nothing."""

    @property
    def flow_id(self) -> str:
        """Group and ends."""
        return self.flow.name_in(self.carrier.name)
