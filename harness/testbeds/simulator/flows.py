"""Connect each flow, and start the agent or the TCP at its initiating end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from rogue.agent.core.actions import SUCCESS, RttSample, status_name
from rogue.agent.core.application import Application, Schedule, TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments, TransportSettings
from rogue.agent.drivers.simulated import FlowEvent, QueuePairProgress, SimulatedFlow
from rogue.agent.drivers.simulated_limiters import NicLimiters
from rogue.agent.drivers.simulated_path import Arrivals, SimulatedPath, open_path
from rogue.agent.drivers.step import ControlSample
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import FlowGroup, PlannedFlow
from rogue.harness.cell.group_settings import TcpSettings
from rogue.harness.testbeds.simulator.nics import NicSettings, nic_settings, profile_of
from rogue.harness.testbeds.simulator.order import OnTransfer, Order
from rogue.harness.testbeds.transfer_tables import schedule_of
from rogue.simulator import QueuePair, Reliability, Simulation
from rogue.workloads.streams import random_stream, source_port
from rogue.workloads.topologies import Topology

Pair = tuple[QueuePair, QueuePair]
"""Both ends of a TCP connection."""
WRITE_BYTES: Final = 1 << 20
"""Bytes that host software writes to a socket at once, estimated; it costs next to nothing here."""


class TcpFlow:
    """One TCP connection that follows a schedule: a transfer ends when all of it is acknowledged."""

    def __init__(
        self,
        simulation: Simulation,
        end: QueuePair,
        schedule: Schedule,
        on_end: Callable[[int, HostNs], None] | None = None,
        on_arrival: Callable[[int, HostNs], None] | None = None,
    ) -> None:
        self._end = end
        self._on_end = on_end
        self._application = Application(schedule)
        self._arrivals = None if on_arrival is None else Arrivals(self.transfers, on_arrival)
        self._timer = simulation.timer(self._on_timer)
        self._begun_bytes: dict[int, int] = {}
        self.rtt_samples: list[RttSample] = []
        self.control_samples: list[ControlSample] = []
        self.failures: list[tuple[HostNs, int | None, str]] = []
        self.events: list[FlowEvent] = []
        end.attach(self._on_completions, self._on_qp_event)

    @property
    def transfers(self) -> list[TransferRecord]:
        """Return all transfers started so far, in order."""
        return self._application.records

    @property
    def retransmitted_bytes(self) -> int:
        """Return bytes that TCP has sent again so far."""
        return self._end.retransmitted_bytes

    def start(self) -> None:
        """Start with the schedule."""
        self._await_next()

    def release(self, number: int, now: HostNs, not_before_ns: HostNs) -> bool:
        """Let a transfer start that was held; say whether it ever can."""
        can_start = self._application.release(number, not_before_ns)
        if can_start:
            self._on_timer(now)
        return can_start

    def finish(self) -> None:
        """End the run; a transfer that still runs is recorded as unfinished."""
        self._application.finish()

    def _await_next(self) -> None:
        if self._application.next_start_ns is not None:
            self._timer.set(self._application.next_start_ns)

    def _on_timer(self, now_ns: int) -> None:
        next_ns = self._application.next_start_ns
        while next_ns is not None and next_ns <= now_ns and not self.failures:
            transfer = self._application.begin(HostNs(now_ns))
            self._begun_bytes[transfer.transfer_id] = self.retransmitted_bytes
            self._end.post_write(transfer.transfer_id, transfer.size_bytes, True)
            if self._arrivals is not None:
                size_bytes = transfer.size_bytes
                self._arrivals.on_posted(self._end, size_bytes, transfer.transfer_id, size_bytes)
            next_ns = self._application.next_start_ns
        self._await_next()

    def _on_completions(self, now_ns: int, completions: list[tuple[int, int, int, int, int | None]]) -> None:
        for transfer_id, status, *_ in completions:
            error = None if status == SUCCESS else status_name(status)
            record = self._application.on_transfer_done(transfer_id, HostNs(now_ns), error)
            begun_bytes = self._begun_bytes.pop(transfer_id)
            if not self._application.is_open_loop:
                record.retransmitted_bytes = self.retransmitted_bytes - begun_bytes
            if self._on_end is not None:
                for ended in (transfer_id, *(n + 1 for n in self._application.abandoned())):
                    self._on_end(ended, HostNs(now_ns))
        self._on_timer(now_ns)

    def _on_qp_event(self, now_ns: int, state: int) -> None:
        self.failures.append((HostNs(now_ns), self._end.qp_num, f"the connection is in state {state}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningFlow(PlannedFlow):
    """A flow and what drives it."""

    nics: NicSettings
    qp_nums: tuple[int, ...]
    """Queue pairs at the initiating end."""
    all_qp_nums: tuple[int, ...]
    """Those, the other ends, and those of datagrams beside them."""
    agent: SimulatedFlow | TcpFlow
    order: Order | None = None
    """The order of transfers in its group."""
    sending_qp_num: int = 0
    """The first queue pair at the end that data leave."""

    @property
    def transfers(self) -> list[TransferRecord]:
        """Return all transfers started so far in order, each with what it waited for."""
        if self.order is not None:
            for record in self.agent.transfers:
                waited_for = self.order.waited_for(self.flow, record.transfer_id)
                if waited_for is not None:
                    ends, number = waited_for
                    record.waited_for = self.flow_id.removesuffix(self.flow.ends) + ends, number
        return self.agent.transfers

    @property
    def qp_periods(self) -> Sequence[QueuePairProgress]:
        """Return the progress at each change of queue pair; empty without one, as always with TCP."""
        return self.agent.qp_periods if isinstance(self.agent, SimulatedFlow) else ()

    @property
    def is_done(self) -> bool:
        """Return True if every transfer has ended, or the connection is lost and no more will start."""
        transfers = self.agent.transfers
        if not transfers or any(transfer.status == "unfinished" for transfer in reversed(transfers)):
            return False
        return len(transfers) == self.flow.count or transfers[-1].status == "error"


def shared_limiters(simulation: Simulation, topology: Topology) -> dict[str, NicLimiters]:
    """Return the limiters of each host whose NIC may have fewer of them than queue pairs."""
    limiters = {host: profile_of(topology, host).limiters for host in topology.host_names()}
    keeps_one = topology.nic_limiters is not None
    return {
        host: NicLimiters(simulation, count, keeps_one=keeps_one) for host, count in limiters.items() if count
    }


class GroupFabric:
    """A simulation in which new connections have a group's priority and the settings of its NICs."""

    def __init__(
        self, simulation: Simulation, limiters: Mapping[str, NicLimiters], cell: Cell, group: FlowGroup
    ) -> None:
        self.simulation, self.limiters, self.cell = simulation, limiters, cell
        self.nics = nic_settings(cell, group)
        self.connect = partial(
            simulation.connect,
            control=self.nics.control,
            reliability=self.nics.reliability,
            spraying=self.nics.spraying,
            priority=group.priority,
        )


def connect_flow(fabric: GroupFabric, planned: PlannedFlow) -> SimulatedPath | Pair:
    """Connect a flow's two hosts: a TCP connection from the source, or queue pairs from the initiator.

    No limiter holds TCP back. NICs with a control limit rates themselves, so the agent takes no limiter.
    """
    flow, settings = planned.flow, planned.settings
    path_seed = source_port(fabric.cell.seed, planned.flow_id)
    if isinstance(settings, TcpSettings):
        ends = fabric.simulation.connect(
            flow.source,
            flow.destination,
            mtu_bytes=settings.segment_bytes,
            retry_count=0,
            timeout_exponent=0,
            priority=planned.carrier.priority,
            path_seed=path_seed,
            reliability=Reliability(settings.transport, settings.parameters),
        )
        for host, end in zip((flow.source, flow.destination), ends, strict=True):
            if host in fabric.limiters:
                fabric.limiters[host].leave_unlimited((end,))
        return ends
    return open_path(
        fabric.simulation,
        flow.initiator,
        flow.responder,
        settings=settings,
        mtu_bytes=fabric.cell.topology.mtu_bytes,
        path_seed=path_seed,
        limiters={} if fabric.nics.control else fabric.limiters,
        connect=fabric.connect,
    )


def start_flow(fabric: GroupFabric, planned: PlannedFlow, order: Order | None = None) -> RunningFlow:
    """Connect the two hosts, and let the agent begin at the flow's start.

    `order` has the group's transfers that wait for others.
    """
    connected = connect_flow(fabric, planned)
    agent: SimulatedFlow | TcpFlow
    listeners = (None, None) if order is None else order.listeners(planned.flow)
    if isinstance(connected, SimulatedPath):
        agent = _agent(fabric, planned, connected, listeners)
        pairs = [*connected.pairs, *((connected.side_channel,) if connected.side_channel else ())]
        all_qp_nums = tuple(end.qp_num for pair in pairs for end in pair)
        qp_nums = tuple(own_end.qp_num for own_end, _ in connected.pairs)
        sending = connected.main[planned.flow.source != planned.flow.initiator].qp_num
    else:
        agent = TcpFlow(fabric.simulation, connected[0], schedule_of(planned.flow), *listeners)
        all_qp_nums = tuple(end.qp_num for end in connected)
        qp_nums = (connected[0].qp_num,)
        sending = connected[0].qp_num
    if order is not None:
        order.join(planned.flow, agent)
    agent.start()
    return RunningFlow(
        planned.carrier,
        planned.flow,
        planned.is_probe,
        nics=fabric.nics,
        qp_nums=qp_nums,
        all_qp_nums=all_qp_nums,
        agent=agent,
        order=order,
        sending_qp_num=sending,
    )


def _agent(
    fabric: GroupFabric,
    planned: PlannedFlow,
    path: SimulatedPath,
    listeners: tuple[OnTransfer | None, OnTransfer | None],
) -> SimulatedFlow:
    settings, cell = planned.settings, fabric.cell
    assert isinstance(settings, TransportSettings)
    flow, topology = planned.flow, cell.topology
    return SimulatedFlow(
        fabric.simulation,
        path,
        settings=settings,
        link=_link_facts(topology, flow.initiator),
        schedule=schedule_of(flow),
        record_rtt=cell.experiment.measures("rtt"),
        record_control=cell.experiment.measures("control"),
        peer_link=_link_facts(topology, flow.responder),
        instruments=_instruments(cell, planned, settings),
        on_end=listeners[0],
        on_arrival=listeners[1],
    )


def _link_facts(topology: Topology, host: str) -> LinkFacts:
    rate_bps, step_bps = topology.host_rate_bps(host), profile_of(topology, host).rate_step_bps
    return _shared_facts(rate_bps, topology.mtu_bytes, topology.framing, step_bps)


@lru_cache(maxsize=64)
def _shared_facts(line_rate_bps: int, mtu_bytes: int, framing: str, rate_step_bps: int) -> LinkFacts:
    """Make the facts of equal ports once, because a million connections refer to them."""
    return LinkFacts(line_rate_bps, mtu_bytes, framing, rate_step_bps)


def _instruments(cell: Cell, planned: PlannedFlow, settings: TransportSettings) -> Instruments:
    """Return the disturbances that the parameters request, drawn from one stream per flow."""
    if not settings.rtt_noise_ns:
        return NO_INSTRUMENTS
    return Instruments(random=random_stream(cell.seed, f"rtt_noise/{planned.flow_id}").random)
