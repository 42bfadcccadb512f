"""Two connected endpoints on a fabric in the test's own process: a flow, and the library it talks to."""

import io
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from helpers.fake_verbs_network import Fabric
from helpers.ticking_clock import TickingClock

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import Seal
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.limiters.base import COLUMNS as LIMITER_COLUMNS
from rogue.agent.drivers.limiters.base import RateLimiter
from rogue.agent.drivers.recording import THROUGHPUT_COLUMNS as METER_COLUMNS
from rogue.agent.drivers.recording import TRANSFER_COLUMNS, Table, ThroughputMeter, TransferLog
from rogue.agent.drivers.verbs.clock import Clocks
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.endpoint import Endpoint, EndpointPlan, Remote, opened
from rogue.agent.drivers.verbs.flow import (
    CONTROL_COLUMNS,
    EVENT_COLUMNS,
    RTT_COLUMNS,
    FlowRecords,
    FlowShape,
    VerbsFlow,
    write_sample,
)
from rogue.agent.drivers.verbs.pyverbs import Pyverbs
from rogue.agent.drivers.verbs.queue_pair import PathAttributes, RemoteMemory, RemoteQueuePair
from rogue.agent.drivers.verbs.responder import SENDS, VerbsResponder
from rogue.agent.drivers.verbs.side_channel import RemoteSide

PORT = PortAddress("rxe0", 1, 1, "0000:0000:0000:0000:0000:ffff:0a09:0001", 2_500_000_000)
BUFFER_BYTES = 1_000_000
RATE_BPS = 10_000_000_000
MTU_BYTES = 1024
PLAN = EndpointPlan("rc", BUFFER_BYTES, sends=64)
PATH = PathAttributes(MTU_BYTES, retry_count=1, timeout_exponent=14)
START = HostNs(1_000)
INTERVAL_NS = 10_000


class KnownLimiter(RateLimiter):
    """Applies each rate, rounded up to its step."""

    kind = "known"
    step_bps = 1_000_000

    def set_rate(self, rate_bps: int, now: HostNs) -> int:
        effective_bps = -(-rate_bps // self.step_bps) * self.step_bps
        self._record(now, rate_bps, effective_bps, 5)
        return effective_bps

    def close(self) -> None:
        """Nothing to give back."""


@dataclass
class Files:
    """Written rows, by table."""

    texts: dict[str, io.StringIO] = field(default_factory=dict)

    def table(self, name: str, columns: tuple[str, ...]) -> Table:
        self.texts[name] = io.StringIO()
        return Table(self.texts[name], columns)

    def rows(self, name: str) -> list[dict[str, str]]:
        header, *lines = self.texts[name].getvalue().splitlines()
        names = header.split(",")
        return [dict(zip(names, line.split(","), strict=True)) for line in lines]


def remote_of(endpoint: Endpoint) -> Remote:
    """Return an endpoint's facts for its peer."""
    buffer = endpoint.buffer
    ends = tuple(
        RemoteQueuePair(PORT.gid, pair.qp_num, psn)
        for pair, psn in zip(endpoint.pairs, endpoint.psns, strict=True)
    )
    side = None
    if endpoint.side is not None:
        side = RemoteSide(PORT.gid, endpoint.side.qp_num, endpoint.side.qkey)
    return Remote(ends, side, RemoteMemory(buffer.address, buffer.size_bytes, buffer.rkey))


def connect(here: Endpoint, there: Endpoint) -> None:
    """Connect two endpoints both ways."""
    here.connect(remote_of(there), PATH)
    there.connect(remote_of(here), PATH)


@dataclass
class Scene:
    """A flow at one end, the library at the other, and what both wrote down."""

    fabric: Fabric
    requester: Endpoint
    responder: Endpoint
    flow: VerbsFlow
    library: VerbsResponder
    limiter: KnownLimiter | None
    sent: Files
    received: Files

    @property
    def log(self) -> TransferLog:
        """Transfers of the flow that have ended."""
        return self.flow.records.transfers

    def follow(self, schedule: Schedule) -> None:
        """Give the flow its schedule, and begin."""
        self.flow.follow(schedule)
        self.flow.on_time(START)

    def turn(self, now_ns: int = 6_000) -> bool:
        """Hand out what has completed at both ends; return whether anything had."""
        polls = list(self.requester.queue.drain())
        for completions in polls:
            self.flow.on_completions(HostNs(now_ns), completions)
        received = list(self.responder.queue.drain())
        for completions in received:
            self.library.on_completions(HostNs(now_ns), completions)
        self.library.on_empty(HostNs(now_ns))
        return bool(polls or received)

    def run(self) -> None:
        """Do what the event loops do, without sleeping."""
        while not self.flow.is_finished:
            assert self.turn(), "nothing completes and nothing is finished"


def scene(
    stack: ExitStack,
    pyverbs: Pyverbs,
    fabric: Fabric,
    transport: str = "rogue",
    verb: str = "write",
    *,
    has_limiter: bool = False,
    has_shadow: bool = False,
) -> Scene:
    """Set two ends up as the data processes of two nodes would."""
    settings = settings_for(transport, RATE_BPS, {"has_shadow": has_shadow})
    uses_receives = settings.service == "uc" or verb != "write"
    plans = (
        EndpointPlan(
            settings.service, BUFFER_BYTES, 64, has_shadow, 16 if settings.has_batch_acknowledgements else 0
        ),
        EndpointPlan(
            settings.service,
            BUFFER_BYTES,
            SENDS,
            has_shadow,
            15 if uses_receives else 0,
            settings.segment_bytes if verb == "send" else 16,
            receives_in_buffer=verb == "send",
        ),
    )
    clock = TickingClock()

    def stamp() -> NicNs:
        return NicNs(clock.read())

    here, there = (stack.enter_context(opened(pyverbs, PORT, plan, stamp)) for plan in plans)
    connect(here, there)
    sent, received = Files(), Files()
    limiter = KnownLimiter(sent.table("limiter", LIMITER_COLUMNS).row) if has_limiter else None
    link = LinkFacts(RATE_BPS, MTU_BYTES, rate_step_bps=1_000_000, has_limiter=has_limiter)
    shadow = QueuePairNumbers(here.pairs[1].qp_num, there.pairs[1].qp_num) if has_shadow else None
    seal = Seal(here.nonce, there.nonce) if has_shadow else None
    peer = Peer(link, there.queue_pair.qp_num, shadow, seal)
    connection = Connection(settings, link, here.queue_pair.qp_num, tracing=True, peer=peer)
    records = FlowRecords(
        TransferLog(sent.table("transfers", TRANSFER_COLUMNS)),
        sent.table("events", EVENT_COLUMNS),
        partial(write_sample, sent.table("rtt", RTT_COLUMNS), sent.table("control", CONTROL_COLUMNS)),
        ThroughputMeter(sent.table("throughput", METER_COLUMNS), INTERVAL_NS),
    )
    shape = FlowShape(BUFFER_BYTES, settings.segment_bytes, MTU_BYTES, settings.service == "uc")
    clocks = Clocks(clock.read, stamp)
    flow = VerbsFlow(connection, here, remote_of(there).memory, shape, limiter, records, clocks)
    responder = VerbsResponder(
        there,
        remote_of(here).memory,
        KnownLimiter(received.table("limiter", LIMITER_COLUMNS).row) if has_limiter else None,
        received.table("events", EVENT_COLUMNS),
        ThroughputMeter(received.table("throughput", METER_COLUMNS), INTERVAL_NS),
        stamp,
        seal,
    )
    return Scene(fabric, here, there, flow, responder, limiter, sent, received)
