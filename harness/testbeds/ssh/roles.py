"""From a cell to what each node is asked to do: two roles per flow, one at each end."""

from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal

from harness.plan.cells import Cell
from harness.testbeds.driver_options import DriverOptions, driver_options
from harness.testbeds.parameters import agent_overrides
from harness.testbeds.timing import Timing
from harness.testbeds.traffic import busiest_receiver, cell_flows, group_transport
from rogue_agent.core.transports import TRANSPORTS
from workloads.traffic import Flow
from workloads.transports import parse_transport

PROBE_GROUP: Final = "probe"
PROBE_TRANSPORT: Final = "roce"
PRIORITIES: Final = 7
"""Traffic classes with a limiter, from 1; class 0 has none.

`lacking_limiters` refuses flows that would share one; those whose batches are held back may.
"""

End = Literal["requester", "responder"]


@dataclass(frozen=True, slots=True)
class PlannedFlow:
    """One flow and how it is carried."""

    name: str
    """Stem of its roles' names."""
    group: str
    transport: str
    """Registry name."""
    label: str
    """What results call the transport."""
    flow: Flow
    overrides: dict[str, object]
    """Parameters of the transport by the agent's names."""
    line_rate_bps: int
    mtu_bytes: int
    priority: int
    """Of the end that the bytes leave, where the agent sets rates; 0 where it does not."""
    run_ns: int
    """How long it runs at the longest, from its start."""
    options: DriverOptions

    @property
    def flow_id(self) -> str:
        """Group and ends."""
        return self.flow.name_in(self.group)

    @property
    def is_probe(self) -> bool:
        """Whether it measures latency and moves nothing."""
        return self.group == PROBE_GROUP

    @property
    def service(self) -> str:
        """Reliable connection, unreliable connection or TCP."""
        return parse_transport(self.transport).service

    @property
    def source_end(self) -> End:
        """The end that the bytes leave."""
        return "responder" if self.flow.verb == "read" else "requester"

    @property
    def has_limiter(self) -> bool:
        """Whether the agent sets a rate."""
        return self.priority > 0

    def priority_of(self, end: End) -> int:
        """Priority of an end's packets: those of the other end, ACKs above all, pass no limiter."""
        return self.priority if end == self.source_end else 0

    def role(self, end: End) -> str:
        """Name of the role at one end."""
        return f"{self.name}-{end}"

    def host(self, end: End) -> str:
        """Host of one end."""
        return self.flow.initiator if end == "requester" else self.flow.responder


def plan_roles(cell: Cell, timing: Timing) -> list[PlannedFlow]:
    """Every flow of a cell, the probe's last."""
    topology = cell.experiment.topology
    planned: list[PlannedFlow] = []
    limited: Counter[str] = Counter()
    flows = cell_flows(cell)
    for group in cell.experiment.groups:
        name = group_transport(cell, group)
        label = group.transport or cell.transport.shown
        parameters = {} if group.transport else cell.transport.parameters
        for flow in flows[group.name]:
            line_rate_bps = topology.host_rate_bps(flow.initiator)
            is_ours = name in TRANSPORTS
            priority = 0
            if is_limited(name, line_rate_bps):
                priority = 1 + limited[flow.source] % PRIORITIES
                limited[flow.source] += 1
            planned.append(
                PlannedFlow(
                    name=f"flow{len(planned)}",
                    group=group.name,
                    transport=name,
                    label=label,
                    flow=flow,
                    overrides=dict(agent_overrides(name, line_rate_bps, parameters)) if is_ours else {},
                    line_rate_bps=line_rate_bps,
                    mtu_bytes=topology.mtu_bytes,
                    priority=priority,
                    run_ns=timing.limit_ns - flow.start_ns,
                    options=driver_options(parameters),
                )
            )
    probe = _probe(cell, timing)
    return [*planned, probe] if probe else planned


def is_limited(transport: str, line_rate_bps: int) -> bool:
    """Whether a transport has a congestion control of the agent's, which sets rates."""
    return transport in TRANSPORTS and TRANSPORTS[transport](line_rate_bps).estimator is not None


def _probe(cell: Cell, timing: Timing) -> PlannedFlow | None:
    """The probe has a host of its own; it is over when the traffic should be."""
    experiment = cell.experiment
    if experiment.probe is None or not experiment.measures("latency"):
        return None
    source = experiment.topology.probe_host()
    flow = experiment.probe.flow(source, experiment.probe.target or busiest_receiver(cell), cell.seed)
    return PlannedFlow(
        name=PROBE_GROUP,
        group=PROBE_GROUP,
        transport=PROBE_TRANSPORT,
        label=PROBE_TRANSPORT,
        flow=flow,
        overrides={},
        line_rate_bps=experiment.topology.host_rate_bps(source),
        mtu_bytes=experiment.topology.mtu_bytes,
        priority=0,
        run_ns=max(1, timing.traffic_ns - flow.start_ns),
        options=DriverOptions(),
    )
