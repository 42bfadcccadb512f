"""The two ends of a flow over real verbs."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import TypeVar

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import LimiterError, SettingsError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import Seal
from rogue.agent.core.settings import TransportSettings
from rogue.agent.drivers import recording
from rogue.agent.drivers.limiters.base import RateLimiter
from rogue.agent.drivers.limiters.client import LimiterClient
from rogue.agent.drivers.replay import RecordedConnection
from rogue.agent.drivers.verbs import card_facts
from rogue.agent.drivers.verbs.clock import Clocks
from rogue.agent.drivers.verbs.completion_queue import CompletionPump, EventQueue
from rogue.agent.drivers.verbs.endpoint import Endpoint, Remote
from rogue.agent.drivers.verbs.flow import (
    CONTROL_COLUMNS,
    EVENT_COLUMNS,
    RTT_COLUMNS,
    FlowRecords,
    FlowShape,
    VerbsFlow,
    write_sample,
)
from rogue.agent.drivers.verbs.queue_pair import PathAttributes, RemoteMemory, RemoteQueuePair
from rogue.agent.drivers.verbs.responder import VerbsResponder
from rogue.agent.drivers.verbs.side_channel import RemoteSide
from rogue.agent.node.messages import Prepare, Prepared
from rogue.agent.node.role import End, NodeContext, Report

NO_LIMITER = "none"
FieldT = TypeVar("FieldT", int, str)


@dataclass(frozen=True)
class VerbsContext:
    """Parts of an end over verbs; `processors` are those to which the role was bound."""

    request: Prepare
    node: NodeContext
    settings: TransportSettings
    line_rate_bps: int
    endpoint: Endpoint
    limiter: RateLimiter | None
    limiter_client: LimiterClient | None = None
    processors: str | None = None


def remote_of(peer: Prepared, *, has_shadow: bool) -> Remote:
    """Return the other endpoint, from the peer's introduction."""
    gid = _given("gid", peer.gid)
    ends = [RemoteQueuePair(gid, _given("qp_num", peer.qp_num), _given("psn", peer.psn))]
    side = None
    if has_shadow:
        shadow_qp_num, psn = (
            _given("shadow_qp_num", peer.shadow_qp_num),
            _given("shadow_psn", peer.shadow_psn),
        )
        ends.append(RemoteQueuePair(gid, shadow_qp_num, psn))
        side = RemoteSide(gid, _given("side_qp_num", peer.side_qp_num), _given("side_qkey", peer.side_qkey))
    memory = RemoteMemory(
        _given("buffer_address", peer.buffer_address),
        _given("buffer_bytes", peer.buffer_bytes),
        _given("rkey", peer.rkey),
    )
    return Remote(tuple(ends), side, memory)


def seal_of(own_nonce: bytes, peer: Prepared, *, is_requester: bool) -> Seal:
    """Return the seal of a connection, from the nonces of both ends."""
    peer_nonce = bytes.fromhex(_given("nonce", peer.nonce))
    return Seal(own_nonce, peer_nonce) if is_requester else Seal(peer_nonce, own_nonce)


def _peer_of(peer: Prepared, endpoint: Endpoint, mtu_bytes: int) -> Peer:
    """Return the core's facts about the other end."""
    link = LinkFacts(
        peer.line_rate_bps,
        mtu_bytes,
        rate_step_bps=peer.limiter_step_bps,
        has_limiter=peer.limiter != NO_LIMITER,
    )
    qp_num = _given("qp_num", peer.qp_num)
    if len(endpoint.pairs) == 1:
        return Peer(link, qp_num)
    shadow = QueuePairNumbers(endpoint.pairs[1].qp_num, _given("shadow_qp_num", peer.shadow_qp_num))
    return Peer(link, qp_num, shadow, seal_of(endpoint.nonce, peer, is_requester=True))


def _given(name: str, value: FieldT | None) -> FieldT:
    if value is None:
        raise SettingsError(f"peer.{name}", None, "the value of a peer with the same transport")
    return value


class VerbsEnd(End):
    """One end over an endpoint; `meter` counts the bytes that arrive."""

    def __init__(self, context: VerbsContext) -> None:
        self._context = context
        self._node, self._endpoint, self._request = context.node, context.endpoint, context.request
        self._meter = recording.ThroughputMeter(
            self._node.spool.table("throughput", recording.THROUGHPUT_COLUMNS),
            self._request.sample_interval_ns,
            self._request.first_sample_ns,
        )
        self._events = self._node.spool.table("events", EVENT_COLUMNS)
        self._counters_before: dict[str, int] = {}
        self._pump: CompletionPump | None = None

    def introduce(self, role: str) -> Prepared:
        """Return what the peer needs, and what was found on this node."""
        context, endpoint = self._context, self._endpoint
        port, limiter, side = endpoint.port, context.limiter, endpoint.side
        shadow = endpoint.pairs[1] if len(endpoint.pairs) > 1 else None
        return Prepared(
            role,
            service=context.settings.service,
            address=self._request.address,
            line_rate_bps=context.line_rate_bps,
            mtu_bytes=self._mtu_bytes,
            clock=endpoint.queue.clock_name,
            completions=endpoint.queue.mode,
            limiter=NO_LIMITER if limiter is None else limiter.kind,
            limiter_step_bps=0 if limiter is None else limiter.step_bps,
            netdev=port.netdev or None,
            device=port.device,
            port=port.port,
            port_rate_bps=port.rate_bps,
            gid_index=port.gid_index,
            gid=port.gid,
            qp_num=endpoint.queue_pair.qp_num,
            psn=endpoint.psns[0],
            shadow_qp_num=None if shadow is None else shadow.qp_num,
            shadow_psn=None if shadow is None else endpoint.psns[1],
            side_qp_num=None if side is None else side.qp_num,
            side_qkey=None if side is None else side.qkey,
            nonce=endpoint.nonce.hex(),
            rkey=endpoint.buffer.rkey,
            buffer_address=endpoint.buffer.address,
            buffer_bytes=endpoint.buffer.size_bytes,
            processors=context.processors,
        )

    @property
    def _mtu_bytes(self) -> int:
        active_mtu_bytes = self._endpoint.active_mtu_bytes
        return min(active_mtu_bytes, self._request.mtu_bytes or active_mtu_bytes)

    def _join(self, peer: Prepared) -> tuple[Remote, int]:
        """Connect every queue pair; return the other end, and the MTU of both."""
        settings, request = self._context.settings, self._request
        remote = remote_of(peer, has_shadow=settings.has_shadow)
        mtu_bytes = min(self._mtu_bytes, peer.mtu_bytes)
        path = PathAttributes(
            mtu_bytes, settings.retry_count, settings.timeout_exponent, request.priority, request.dscp
        )
        self._endpoint.connect(remote, path)
        return remote, mtu_bytes

    def _watch(self, pump: CompletionPump) -> None:
        self._pump = pump
        queue = self._endpoint.queue
        if isinstance(queue, EventQueue):
            self._node.poller.watch(queue.descriptor, pump.on_ready)
        else:
            self._node.poller.spin(pump.drain)

    def _begin_counting(self, start_ns: HostNs) -> None:
        self._counters_before = card_facts.read_counters(self._node.sysfs, self._endpoint.port)
        self._meter.start(start_ns)

    def finish(self, now: HostNs) -> None:
        """End the intervals, and read the port's counters again."""
        self._meter.close(now)
        after = card_facts.read_counters(self._node.sysfs, self._endpoint.port)
        table = self._node.spool.table("counters", card_facts.COLUMNS)
        for name, value in after.items():
            if name in self._counters_before:
                table.row(name, self._counters_before[name], value)

    def checksum(self, size_bytes: int | None) -> str:
        """Return the SHA-256 of the buffer."""
        return self._endpoint.buffer.sha256(size_bytes)

    def _limiter_facts(self) -> dict[str, object]:
        limiter = self._context.limiter
        if limiter is None:
            return {}
        actuations_ns = limiter.actuations_ns
        return {
            "limiter_writes": limiter.writes,
            "limiter_actuation_median_ns": round(median(actuations_ns)) if actuations_ns else None,
        }


class VerbsRequester(VerbsEnd):
    """Follows a schedule."""

    is_requester = True
    _flow: VerbsFlow | None = None
    _memory_bytes = 0
    _is_over = False

    def connect(self, peer: Prepared) -> None:
        """Connect the queue pairs, and build a connection and its flow on them."""
        limiter, client, spool = self._context.limiter, self._context.limiter_client, self._node.spool
        remote, mtu_bytes = self._join(peer)
        self._memory_bytes = min(self._endpoint.buffer.size_bytes, remote.memory.size_bytes)
        is_uc = self._context.settings.service == "uc"
        shape = FlowShape(
            memory_bytes=self._memory_bytes,
            verb_bytes=self._context.settings.segment_bytes,
            mtu_bytes=mtu_bytes,
            has_counted_writes=is_uc,
            is_dated=is_uc and limiter is not None and limiter.is_behind_device,
        )
        records = FlowRecords(
            transfers=recording.TransferLog(spool.table("transfers", recording.TRANSFER_COLUMNS)),
            events=self._events,
            sample=self._sampled(),
            meter=self._meter,
        )
        clocks = Clocks(self._node.clock, self._endpoint.queue.stamp)
        connection = self._connection(peer, mtu_bytes)
        flow = VerbsFlow(connection, self._endpoint, remote.memory, shape, limiter, records, clocks)
        self._flow = flow
        if client is not None:
            client.attach(flow.take_turns(client.send), self._events.row)
            self._node.poller.watch(client.fileno(), client.receive)
        queue, clock = self._endpoint.queue, self._node.clock
        self._watch(CompletionPump(queue, clock, flow.on_completions, lambda _now: None))

    def _sampled(self) -> recording.DeferredCalls | None:
        """Return what keeps RTT samples until the end, None if they are not recorded."""
        has_samples, spool = self._context.settings.estimator is not None, self._node.spool
        rtt = spool.table("rtt", RTT_COLUMNS) if has_samples and self._request.record_rtt else None
        has_control = has_samples and self._request.record_control
        control = spool.table("control", CONTROL_COLUMNS) if has_control else None
        return None if rtt is None and control is None else spool.late(partial(write_sample, rtt, control))

    def _connection(self, peer: Prepared, mtu_bytes: int) -> Connection:
        """Build the core's connection, which records its inputs on request."""
        context = self._context
        link = LinkFacts(
            context.line_rate_bps,
            mtu_bytes,
            rate_step_bps=0 if context.limiter is None else context.limiter.step_bps,
            has_limiter=context.limiter is not None,
        )
        facts = _peer_of(peer, self._endpoint, mtu_bytes)
        qp_num, tracing = self._endpoint.queue_pair.qp_num, context.settings.estimator is not None
        build: Callable[..., Connection] = Connection
        if self._request.record_inputs:
            build = partial(RecordedConnection, log=self._node.spool.file("inputs", "jsonl"))
        return build(context.settings, link, qp_num, tracing=tracing, peer=facts)

    def begin(self, start_ns: HostNs, schedule: Schedule | None) -> None:
        """Follow the schedule, whose transfers, or at least their verbs, must fit the memories."""
        assert self._flow is not None and schedule is not None, "a requester is connected and has a schedule"
        segment_bytes, memory_bytes = self._context.settings.segment_bytes, self._memory_bytes
        size_bytes = max([schedule.size_bytes, *(size for _, size in schedule.arrivals or ())])
        if size_bytes > memory_bytes and (segment_bytes > memory_bytes or schedule.verb_bytes is not None):
            raise SettingsError(
                "size_bytes",
                size_bytes,
                f"at most {memory_bytes}, the buffers' size, which holds no whole verbs",
            )
        self._begin_counting(start_ns)
        events = self._node.transfer_events
        self._flow.follow(schedule, events)
        if events is not None:
            events.attach(self._flow.release)

    @property
    def deadline_ns(self) -> HostNs | None:
        """Deadline of the flow."""
        return None if self._flow is None else self._flow.deadline_ns

    def on_time(self, now: HostNs) -> None:
        """Let the flow do what is due."""
        flow = self._flow
        if flow is None:
            return
        deadline_ns = flow.deadline_ns
        if deadline_ns is not None and now >= deadline_ns:
            before = self._node.clock()
            flow.on_time(now)
            if self._pump is not None:
                self._pump.spent.deciding_ns += self._node.clock() - before
        if self._is_over:
            self._leave_limiters(flow, now)
        else:
            flow.update_turn(now)

    @property
    def is_finished(self) -> bool:
        """True if the schedule is done."""
        return self._flow is not None and self._flow.is_finished

    def on_failure(self) -> None:
        """Leave the limiter to other flows."""
        if self._context.limiter_client is not None:
            self._context.limiter_client.close()

    def finish(self, now: HostNs) -> None:
        """Cut off what still runs, and keep a shared limiter until its last packet has left."""
        flow, client = self._flow, self._context.limiter_client
        self._is_over = True
        if flow is not None:
            flow.finish(now)
            if client is not None:
                self._node.poller.leave(client.fileno())
            self._leave_limiters(flow, now)
        super().finish(now)

    def _leave_limiters(self, flow: VerbsFlow, now: HostNs) -> None:
        """Disconnect from the limiter server, if it still runs, once nothing of this flow is outstanding."""
        with suppress(LimiterError):
            flow.update_turn(now)
        if self._context.limiter_client is not None and not flow.has_limiter:
            self._context.limiter_client.close()

    def report(self) -> Report:
        """Return the counters of the flow."""
        flow, pump = self._flow, self._pump
        if flow is None or pump is None:
            return Report(0)
        spent: dict[str, object] = {**asdict(pump.spent), "posting_ns": flow.posting_ns}
        spent["deciding_ns"] = pump.spent.deciding_ns - flow.posting_ns
        received = {"mistakes": flow.mistakes, "strangers": self._endpoint.strangers}
        facts = {"again_bytes": flow.again_bytes, **received, **flow.connection.losses()}
        return Report(
            self._meter.total_bytes,
            dict(flow.records.transfers.ended),
            flow.records.transfers.first_error,
            verbs=flow.posted_verbs,
            batches=flow.posted_batches,
            spent=spent,
            facts={**facts, **self._limiter_facts()},
        )


class VerbsResponderEnd(VerbsEnd):
    """Serves a requester."""

    is_requester = False
    _responder: VerbsResponder | None = None

    def connect(self, peer: Prepared) -> None:
        """Connect the queue pairs, and build the library on them."""
        endpoint, node = self._endpoint, self._node
        remote, _ = self._join(peer)
        seal = None
        if self._context.settings.has_shadow:
            seal = seal_of(endpoint.nonce, peer, is_requester=False)
        responder = VerbsResponder(
            endpoint,
            remote.memory,
            self._context.limiter,
            self._events,
            self._meter,
            endpoint.queue.stamp,
            seal,
            None if node.transfer_events is None else node.transfer_events.on_arrival,
        )
        self._responder = responder
        self._watch(CompletionPump(endpoint.queue, node.clock, responder.on_completions, responder.on_empty))

    def begin(self, start_ns: HostNs, schedule: Schedule | None) -> None:
        """Start the counters."""
        assert schedule is None, "a responder follows no schedule"
        self._begin_counting(start_ns)

    def report(self) -> Report:
        """Return what has arrived visibly: plain WRITEs over RC are not."""
        responder, pump = self._responder, self._pump
        if responder is None or pump is None:
            return Report(0)
        facts: dict[str, object] = {
            "delivered_messages": responder.delivered_messages,
            "mistakes": responder.mistakes,
            "strangers": self._endpoint.strangers,
            **self._limiter_facts(),
        }
        return Report(self._meter.total_bytes, spent={**asdict(pump.spent)}, facts=facts)
