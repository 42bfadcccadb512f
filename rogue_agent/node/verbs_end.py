"""Ends over real verbs: what requester and responder share."""

from dataclasses import dataclass
from statistics import median

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.settings import TransportSettings
from rogue.agent.drivers import meter
from rogue.agent.drivers.limiters.base import RateLimiter
from rogue.agent.drivers.limiters.borrowed import BorrowedLimiters
from rogue.agent.drivers.verbs import counters
from rogue.agent.drivers.verbs.completion_queue import EventQueue
from rogue.agent.drivers.verbs.endpoint import Endpoint, Remote
from rogue.agent.drivers.verbs.flow import EVENT_COLUMNS
from rogue.agent.drivers.verbs.pump import CompletionPump
from rogue.agent.drivers.verbs.queue_pair import PathAttributes
from rogue.agent.node.end import End, Workplace
from rogue.agent.node.messages import Prepare, Prepared
from rogue.agent.node.verbs_peer import NO_LIMITER, remote_of


@dataclass(frozen=True)
class Foundation:
    """What both kinds of end stand on."""

    request: Prepare
    workplace: Workplace
    settings: TransportSettings
    line_rate_bps: int
    endpoint: Endpoint
    limiter: RateLimiter | None
    turns: BorrowedLimiters | None = None
    processors: "str | None" = None
    """To which the role was bound."""


class VerbsEnd(End):
    """One end over an endpoint; `meter` counts what arrives."""

    def __init__(self, foundation: Foundation) -> None:
        self._base = foundation
        spool, request = foundation.workplace.spool, foundation.request
        self._meter = meter.ThroughputMeter(
            spool.table("throughput", meter.COLUMNS), request.sample_interval_ns, request.first_sample_ns
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
        self._counters_before = counters.read_counters(self._base.workplace.sysfs, self._base.endpoint.port)
        self._meter.start(start_ns)

    def finish(self, now: HostNs) -> None:
        """End the intervals, and read the port's counters once more."""
        self._meter.close(now)
        after = counters.read_counters(self._base.workplace.sysfs, self._base.endpoint.port)
        table = self._base.workplace.spool.table("counters", counters.COLUMNS)
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
