"""Plan two roles per flow: what each node does, and which transfers wait for others."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Literal, NamedTuple, get_args

from rogue.agent.node.messages import WAITS_MAX, After, Prepared
from rogue.agent.node.supervisor import ROLES_MAX
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PROBE_GROUP, FlowGroup, Group, PlannedFlow
from rogue.harness.testbeds.base import Fact
from rogue.workloads.topologies import Topology
from rogue.workloads.traffic import Flow, Moment
from rogue.workloads.traffic.transfer_graph import waits

PRIORITIES: Final = 7
"""Traffic classes with a limiter, from 1; class 0 has none."""


@dataclass(frozen=True, slots=True)
class LimiterClass:
    """Of the end that the bytes leave."""

    priority: int = 0
    """0 where the agent sets no rates. A flow that takes turns only begins with it."""
    turns: tuple[int, ...] = ()
    """Priorities whose limiters it shares by turns; none if its own is its own."""


def limiters_of(topology: Topology) -> int:
    """Return how many limiters each host's card has for flows."""
    return topology.nic_limiters or PRIORITIES


def can_take_turns(planned: PlannedFlow) -> bool:
    """True if a flow can move from one limiter to another, which needs a moment with nothing outstanding.

    A responder to READs cannot request that. Over UC the queue pair loses for good what its peer
    sends while it is moved.
    """
    return planned.flow.verb != "read" and planned.carrier.transport.service == "rc"


def limiter_classes(flows: Sequence[PlannedFlow], limiters: int) -> list[LimiterClass]:
    """Return the limiters of all flows with rates that leave one host.

    As long as there are enough, each has one. Then those that cannot take turns keep theirs.
    `short_of_limiters` refuses hosts where none is left for the others; flows whose batches are held back
    may share one.
    """
    if len(flows) <= limiters:
        return [LimiterClass(number) for number in range(1, len(flows) + 1)]
    kept = sum(not can_take_turns(flow) for flow in flows)
    turns = tuple(range(kept + 1, limiters + 1))
    classes, number = [], 0
    for flow in flows:
        if turns and can_take_turns(flow):
            classes.append(LimiterClass(turns[0], turns))
        else:
            classes.append(LimiterClass(1 + number % limiters))
            number += 1
    return classes


def short_of_limiters(limited: Mapping[str, Sequence[PlannedFlow]], limiters: int) -> str | None:
    """Return the first host with too few limiters for its flows with rates; None if all have enough."""
    for host, flows in limited.items():
        moving = [can_take_turns(flow) for flow in flows]
        kept = moving.count(False)
        if len(moving) > limiters and kept + any(moving) > limiters:
            return (
                f"{host} sends {len(moving)} flows with rates, and its card has {limiters} limiters for "
                f"them: {kept} respond to READs or go over unreliable connections, which keep a limiter "
                "each and take no turns; let it send fewer of these"
            )
    return None


MEMORY_BYTES_MAX: Final = 32 * 2**20
"""A longer transfer goes round and round in it."""
EndName = Literal["requester", "responder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFlow(PlannedFlow):
    """A planned flow, and the numbers for its two nodes."""

    name: str
    """Stem of its roles' names."""
    line_rate_bps: int
    mtu_bytes: int
    run_ns: int
    """How long it runs at the longest, from its start."""
    limiter: LimiterClass = field(default_factory=LimiterClass)
    """The limiter that paces it."""
    memory_bytes_max: int = MEMORY_BYTES_MAX
    """The largest memory that one of its ends gets."""
    records_control: bool = False
    """True if the metrics of its control are recorded."""
    tells: tuple[Moment, ...] = ()
    """The events of transfers that its ends send; empty if no transfer waits for another."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of the flows of its group, by `Flow.ends`."""

    @property
    def transport(self) -> str:
        """Return the agent's name for it."""
        return self.carrier.transport.base

    @property
    def service(self) -> str:
        """Return the service: reliable connection, unreliable connection or TCP."""
        return self.carrier.transport.service

    @property
    def source_end(self) -> EndName:
        """Return the end that the bytes leave."""
        return "responder" if self.flow.verb == "read" else "requester"

    @property
    def has_limiter(self) -> bool:
        """True if the agent sets a rate."""
        return self.limiter.priority > 0

    def priority_of(self, end: EndName) -> int:
        """Return the priority of an end's packets; those of the other end, mostly ACKs, pass no limiter."""
        return self.limiter.priority if end == self.source_end else 0

    @property
    def roles(self) -> tuple["Role", "Role"]:
        """Return the requester and the responder."""
        return Role(self, "requester"), Role(self, "responder")

    def role(self, end: EndName) -> str:
        """Name of the role at one end."""
        return f"{self.name}-{end}"

    def host(self, end: EndName) -> str:
        """Return the host of one end."""
        return self.flow.initiator if end == "requester" else self.flow.responder


class Role(NamedTuple):
    """One end of a flow: what one node does."""

    flow: NodeFlow
    end: EndName

    @property
    def name(self) -> str:
        """Return its name on the node and in results."""
        return self.flow.role(self.end)

    @property
    def host(self) -> str:
        """Return the host that it runs on."""
        return self.flow.host(self.end)

    @property
    def other(self) -> "Role":
        """Return the other end."""
        return Role(self.flow, "responder" if self.end == "requester" else "requester")


def plan_roles(cell: Cell, memory_bytes_max: int = MEMORY_BYTES_MAX) -> list[NodeFlow]:
    """Return every flow of a cell, the probe's last."""
    planned: list[NodeFlow] = []
    tells = {group.name: reported_moments(group) for group in cell.groups}
    names = _names(cell)
    limiters = {
        host: iter(limiter_classes(flows, limiters_of(cell.topology)))
        for host, flows in limited_flows(cell).items()
    }
    for carrier, flow in ((group, flow) for group in cell.groups for flow in group.flows):
        line_rate_bps = cell.topology.host_rate_bps(flow.initiator)
        is_own = is_limited(carrier, line_rate_bps)
        planned.append(
            NodeFlow(
                carrier,
                flow,
                name=names[carrier.name][flow.ends],
                line_rate_bps=line_rate_bps,
                mtu_bytes=cell.topology.mtu_bytes,
                run_ns=_run_ns(cell, carrier, flow),
                limiter=next(limiters[flow.source]) if is_own else LimiterClass(),
                memory_bytes_max=memory_bytes_max,
                records_control=cell.experiment.measures("control"),
                tells=tells[carrier.name],
                names=names[carrier.name],
            )
        )
    probe = _probe(cell)
    return [*planned, probe] if probe else planned


def _names(cell: Cell) -> dict[str, dict[str, str]]:
    number = count()
    return {group.name: {flow.ends: f"flow{next(number)}" for flow in group.flows} for group in cell.groups}


def reported_moments(group: Group) -> tuple[Moment, ...]:
    """Return the events that a group's ends report: for waiting transfers, and arrivals for measures."""
    after = {each.moment for flow in group.flows for arrival in flow.arrivals for each in arrival.after}
    if after or group.tells_arrivals:
        after.add("arrival")
    return tuple(moment for moment in get_args(Moment) if moment in after)


def limited_flows(cell: Cell) -> dict[str, list[PlannedFlow]]:
    """Return flows with rates, by the hosts that their bytes leave."""
    by_host: dict[str, list[PlannedFlow]] = {}
    for group in cell.groups:
        for flow in group.flows:
            if is_limited(group, cell.topology.host_rate_bps(flow.initiator)):
                by_host.setdefault(flow.source, []).append(PlannedFlow(group, flow))
    return by_host


def _run_ns(cell: Cell, carrier: FlowGroup, flow: Flow) -> int:
    """Return the time from a flow's start to its end by the clock, or to the time limit of the cell."""
    end_ns = min(cell.timing.limit_ns, carrier.duration_ns or cell.timing.limit_ns)
    return max(1, end_ns - flow.start_ns)


def is_limited(carrier: FlowGroup, line_rate_bps: int) -> bool:
    """True if the agent's congestion control sees samples, and so sets rates."""
    return carrier.settings.of_host(line_rate_bps).estimator is not None


def _probe(cell: Cell) -> NodeFlow | None:
    """Return the probe, which is over when the traffic should be; None if latency is not measured."""
    probe = cell.probe
    if probe is None or not cell.experiment.measures("latency"):
        return None
    return NodeFlow(
        probe.carrier,
        probe.flow,
        is_probe=True,
        name=PROBE_GROUP,
        line_rate_bps=cell.topology.host_rate_bps(probe.flow.source),
        mtu_bytes=cell.topology.mtu_bytes,
        run_ns=max(1, cell.timing.traffic_ns - probe.flow.start_ns),
    )


KNOWN_BY: Mapping[Moment, EndName] = {"start": "requester", "end": "requester", "arrival": "responder"}
"""Which end of a flow knows of a moment; its bytes are pushed, so that the requester is at their source."""


def after_requests(role: Role, limit_ms: int) -> Iterator[After]:
    """Yield the events that a requester's transfers wait for, by the role that sends them."""
    causes: dict[tuple[str, Moment], list[list[int]]] = {}
    for number, arrival in enumerate(role.flow.flow.arrivals):
        for each in arrival.after:
            known_by = f"{role.flow.names[each.flow]}-{KNOWN_BY[each.moment]}"
            causes.setdefault((known_by, each.moment), []).append([number, each.number, each.pause_ns])
    for (known_by, moment), rows in causes.items():
        for first in range(0, len(rows), WAITS_MAX):
            yield After(role.name, limit_ms, known_by, moment, rows[first : first + WAITS_MAX])


def unorderable(cell: Cell) -> str | None:
    """Return why agents cannot let a cell's transfers wait for each other; None if they can."""
    groups = [group for group in cell.groups if waits(group.flows)]
    for group in groups:
        waiting = f"{group.name} has transfers that wait for others ({_waiting_key(group)})"
        if group.transport.service == "uc":
            return f"{waiting}, and what UC loses never arrives: set transport to one over RC or TCP"
        if any(flow.verb == "read" for flow in group.flows):
            return f"{waiting}, and no agent knows when a READ's source is done: set verb to write or send"
    return _crowded([flow for group in groups for flow in group.flows])


def _crowded(flows: Sequence[Flow]) -> str | None:
    """Find a host with more ends that report to each other than one agent has roles."""
    ends = Counter(host for flow in flows for host in (flow.source, flow.destination))
    crowded = next((host for host, count in ends.items() if count > ROLES_MAX), None)
    if crowded is None:
        return None
    words = f"{ends[crowded]} ends of flows at {crowded} report arrivals to each other"
    return f"{words}, and an agent has at most {ROLES_MAX}: let fewer hosts take part"


def _waiting_key(group: Group) -> str:
    keys = type(group.spec.workload).model_fields
    return "loop" if "loop" in keys else f"kind: {keys['kind'].default}"


LIMITERS: Final = {
    "none": "none",
    "htb": "tc htb (software)",
    "software": "release times of the agent (software)",
    "dcb": "dcb maxrate (hardware)",
}
CLOCKS: Final = {"host": "the host's clock (software)", "nic": "the NIC's clock (hardware)"}


def pacing_facts(flows: Sequence[NodeFlow], prepared: Mapping[str, Prepared]) -> dict[str, Fact]:
    """Return the kinds of limiter and clock of the first RDMA flow that is no probe.

    prepared: replies of the roles. A TCP has no limiter and no timestamp of ours.
    """
    first = next((flow for flow in flows if not flow.is_probe and flow.service != "tcp"), None)
    if first is None:
        return {"rate_limiter": LIMITERS["none"], "timestamps": None}
    limiter = prepared[first.role(first.source_end)].limiter
    clock = prepared[first.role("requester")].clock
    return {"rate_limiter": LIMITERS.get(limiter, limiter), "timestamps": CLOCKS.get(clock, clock)}
