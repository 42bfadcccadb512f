"""What both ends over real verbs share."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import TypeVar

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import Seal
from rogue.agent.core.settings import TransportSettings
from rogue.agent.drivers import recording
from rogue.agent.drivers.limiters.base import RateLimiter
from rogue.agent.drivers.limiters.borrowed import BorrowedLimiters
from rogue.agent.drivers.verbs import card_facts
from rogue.agent.drivers.verbs.completion_queue import CompletionPump, EventQueue
from rogue.agent.drivers.verbs.endpoint import Endpoint, EndpointPlan, Remote
from rogue.agent.drivers.verbs.flow import EVENT_COLUMNS
from rogue.agent.drivers.verbs.queue_pair import PathAttributes, RemoteMemory, RemoteQueuePair
from rogue.agent.drivers.verbs.responder import SENDS
from rogue.agent.drivers.verbs.side_channel import RemoteSide
from rogue.agent.node.end import End, NodeContext
from rogue.agent.node.messages import Prepare, Prepared

NO_LIMITER = "none"
_RECEIVES = 256
_IMMEDIATE_BYTES = 16
FieldT = TypeVar("FieldT", int, str)


def endpoint_plan(request: Prepare, settings: TransportSettings) -> EndpointPlan:
    """What queue pairs and receives an end needs.

    Receives take acknowledgements of the peer's library, its rates for READs, immediates, or SENDs.
    """
    is_requester = request.end == "requester"
    has_receives = (
        settings.has_batch_acknowledgements
        if is_requester
        else settings.service == "uc" or request.verb != "write" or "arrival" in request.tells
    )
    is_sent_to = not is_requester and request.verb == "send"
    return EndpointPlan(
        service=settings.service,
        buffer_bytes=request.buffer_bytes,
        sends=settings.send_queue_verbs if is_requester else SENDS,
        has_shadow=settings.has_shadow,
        receives=_RECEIVES if has_receives else 0,
        receive_bytes=min(settings.segment_bytes, request.buffer_bytes) if is_sent_to else _IMMEDIATE_BYTES,
        receives_in_buffer=is_sent_to,
        completions=request.completions,
        draw=drawer(request),
    )


def drawer(request: Prepare) -> Callable[[int], int]:
    """The source of this end's secrets: the system, or a seed where no other user is."""
    return secrets.randbits if request.secret_seed is None else Random(request.secret_seed).getrandbits


def remote_of(peer: Prepared, *, has_shadow: bool) -> Remote:
    """The other endpoint, as it introduced itself."""
    gid = _given("gid", peer.gid)
    ends = [RemoteQueuePair(gid, _given("qp_num", peer.qp_num), _given("psn", peer.psn))]
    if has_shadow:
        shadow = RemoteQueuePair(
            gid, _given("shadow_qp_num", peer.shadow_qp_num), _given("shadow_psn", peer.shadow_psn)
        )
        ends.append(shadow)
    memory = RemoteMemory(
        _given("buffer_address", peer.buffer_address),
        _given("buffer_bytes", peer.buffer_bytes),
        _given("rkey", peer.rkey),
    )
    side = None
    if has_shadow:
        side = RemoteSide(gid, _given("side_qp_num", peer.side_qp_num), _given("side_qkey", peer.side_qkey))
    return Remote(tuple(ends), side, memory)


def seal_of(own_nonce: bytes, peer: Prepared, *, is_requester: bool) -> Seal:
    """The seal of a connection, from the introductions of both ends."""
    peer_nonce = bytes.fromhex(_given("nonce", peer.nonce))
    return Seal(own_nonce, peer_nonce) if is_requester else Seal(peer_nonce, own_nonce)


def peer_facts(peer: Prepared, endpoint: Endpoint, mtu_bytes: int) -> Peer:
    """The facts about the other end, for the core."""
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
        raise SettingsError(f"peer.{name}", None, "what a peer of the same transport has")
    return value


@dataclass(frozen=True)
class VerbsContext:
    """What both kinds of end stand on."""

    request: Prepare
    workplace: NodeContext
    settings: TransportSettings
    line_rate_bps: int
    endpoint: Endpoint
    limiter: RateLimiter | None
    turns: BorrowedLimiters | None = None
    processors: "str | None" = None
    """To which the role was bound."""


class VerbsEnd(End):
    """One end over an endpoint; `meter` counts what arrives."""

    def __init__(self, foundation: VerbsContext) -> None:
        self._base = foundation
        spool, request = foundation.workplace.spool, foundation.request
        self._meter = recording.ThroughputMeter(
            spool.table("throughput", recording.THROUGHPUT_COLUMNS),
            request.sample_interval_ns,
            request.first_sample_ns,
        )
        self._events = spool.table("events", EVENT_COLUMNS)
        self._counters_before: dict[str, int] = {}
        self._pump: CompletionPump | None = None

    def introduce(self, role: str) -> Prepared:
        """Say what the peer needs, and what was found on this node."""
        base = self._base
        endpoint, port, limiter = base.endpoint, base.endpoint.port, base.limiter
        shadow = endpoint.pairs[1] if len(endpoint.pairs) > 1 else None
        return Prepared(
            role,
            service=base.settings.service,
            address=base.request.address,
            line_rate_bps=base.line_rate_bps,
            mtu_bytes=min(endpoint.active_mtu_bytes, base.request.mtu_bytes or endpoint.active_mtu_bytes),
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
            side_qp_num=None if endpoint.side is None else endpoint.side.qp_num,
            side_qkey=None if endpoint.side is None else endpoint.side.qkey,
            nonce=endpoint.nonce.hex(),
            rkey=endpoint.buffer.rkey,
            buffer_address=endpoint.buffer.address,
            buffer_bytes=endpoint.buffer.size_bytes,
            processors=base.processors,
        )

    def _join(self, peer: Prepared) -> tuple[Remote, int]:
        """Connect every queue pair; return the other end, and the MTU that both ends do."""
        base = self._base
        remote = remote_of(peer, has_shadow=base.settings.has_shadow)
        own_bytes = base.request.mtu_bytes or base.endpoint.active_mtu_bytes
        mtu_bytes = min(own_bytes, base.endpoint.active_mtu_bytes, peer.mtu_bytes)
        settings, request = base.settings, base.request
        path = PathAttributes(
            mtu_bytes, settings.retry_count, settings.timeout_exponent, request.priority, request.dscp
        )
        base.endpoint.connect(remote, path)
        return remote, mtu_bytes

    def _watch(self, pump: CompletionPump) -> None:
        self._pump = pump
        poller, queue = self._base.workplace.poller, self._base.endpoint.queue
        if isinstance(queue, EventQueue):
            poller.watch(queue.descriptor, pump.on_ready)
        else:
            poller.spin(pump.drain)

    def _begin_counting(self, start_ns: HostNs) -> None:
        self._counters_before = card_facts.read_counters(self._base.workplace.sysfs, self._base.endpoint.port)
        self._meter.start(start_ns)

    def finish(self, now: HostNs) -> None:
        """End the intervals, and read the port's counters once more."""
        self._meter.close(now)
        after = card_facts.read_counters(self._base.workplace.sysfs, self._base.endpoint.port)
        table = self._base.workplace.spool.table("counters", card_facts.COLUMNS)
        for name, value in after.items():
            if name in self._counters_before:
                table.row(name, self._counters_before[name], value)

    def checksum(self, size_bytes: int | None) -> str:
        """SHA-256 of the buffer."""
        return self._base.endpoint.buffer.sha256(size_bytes)

    def _limiter_facts(self) -> dict[str, object]:
        limiter = self._base.limiter
        if limiter is None:
            return {}
        actuations_ns = limiter.actuations_ns
        return {
            "limiter_writes": limiter.writes,
            "limiter_actuation_median_ns": round(median(actuations_ns)) if actuations_ns else None,
        }
