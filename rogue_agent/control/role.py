"""What one data process does for its role, request by request: endpoint, connection, flow, results."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rogue_agent.control.errors import MessageError
from rogue_agent.control.messages import (
    Connect,
    Connected,
    Message,
    Prepare,
    Prepared,
    Result,
    Results,
    Start,
    Started,
)
from rogue_agent.core.application import Schedule
from rogue_agent.core.clocks import HostNs
from rogue_agent.core.connection import Connection
from rogue_agent.core.errors import SettingsError
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.settings import TransportSettings
from rogue_agent.core.transports import settings_for
from rogue_agent.drivers.verbs import clock
from rogue_agent.drivers.verbs.discovery import find_port
from rogue_agent.drivers.verbs.endpoint import Endpoint, opened
from rogue_agent.drivers.verbs.flow import VerbsFlow
from rogue_agent.drivers.verbs.library import Library
from rogue_agent.drivers.verbs.loop import EventLoop
from rogue_agent.drivers.verbs.queue_pair import PathAttributes, Peer

_NS_PER_MS = 1_000_000
_NO_LIMITER = "none"
_EVENT_MODE = "event"


@dataclass(frozen=True)
class Workplace:
    """What a data process brings to its role.

    lifeline: a descriptor whose hang-up abandons a running flow. samples: the file for RTT samples.
    """

    library: Library
    sysfs: Path
    lifeline: int
    samples: Path


class Role:
    """One end of a connection with its buffer, and the flow over it once started."""

    def __init__(
        self, workplace: Workplace, endpoint: Endpoint, settings: TransportSettings, line_rate_bps: int
    ) -> None:
        self._workplace = workplace
        self._endpoint = endpoint
        self._settings = settings
        self._line_rate_bps = line_rate_bps
        self._writable_bytes = endpoint.buffer.size_bytes
        self._size_bytes: int | None = None
        self._connection: Connection | None = None
        self._flow: VerbsFlow | None = None
        self._loop: EventLoop | None = None

    def introduce(self, role: str) -> Prepared:
        """Say what the peer needs, and what was found on this node."""
        endpoint = self._endpoint
        return Prepared(
            role=role,
            device=endpoint.port.device,
            port=endpoint.port.port,
            port_rate_bps=endpoint.port.rate_bps,
            active_mtu_bytes=endpoint.active_mtu_bytes,
            gid_index=endpoint.port.gid_index,
            gid=endpoint.port.gid,
            qp_num=endpoint.queue_pair.qp_num,
            psn=endpoint.psn,
            rkey=endpoint.buffer.rkey,
            buffer_address=endpoint.buffer.address,
            buffer_bytes=endpoint.buffer.size_bytes,
            clock=clock.NAME,
            completions=_EVENT_MODE,
            limiter=_NO_LIMITER,
        )

    def handle(self, request: Message) -> Message:
        """Carry out one request; a started flow runs when `run_flow` is called."""
        if isinstance(request, Connect):
            return self._connect(request)
        if isinstance(request, Start):
            return self._start(request)
        if isinstance(request, Result):
            return self._result(request)
        raise MessageError(f"{request.wire_type}: this role has been prepared already")

    def run_flow(self, time_limit_ms: int) -> None:
        """Run the started flow to its end or for this long; raises Abandoned if nobody waits any more."""
        if self._connection is None or self._size_bytes is None:
            return
        endpoint = self._endpoint
        with self._workplace.samples.open("w") as samples:
            schedule = Schedule(self._size_bytes, start_ns=clock.host_ns())
            self._flow = VerbsFlow(self._connection, schedule, endpoint, samples, clock.nic_ns)
            self._loop = EventLoop(self._flow, endpoint.queue, clock.host_ns, self._workplace.lifeline)
            self._loop.run(HostNs(clock.host_ns() + time_limit_ms * _NS_PER_MS))

    def _connect(self, request: Connect) -> Connected:
        if self._connection is not None:
            raise MessageError("connect: this role is connected already")
        peer = Peer(
            gid=request.peer_gid,
            qp_num=request.peer_qp_num,
            psn=request.peer_psn,
            rkey=request.peer_rkey,
            buffer_address=request.peer_buffer_address,
            buffer_bytes=request.peer_buffer_bytes,
        )
        settings, endpoint = self._settings, self._endpoint
        path = PathAttributes(request.mtu_bytes, settings.retry_count, settings.timeout_exponent)
        endpoint.queue_pair.connect(endpoint.port, endpoint.psn, peer, path)
        self._writable_bytes = min(self._writable_bytes, request.peer_buffer_bytes)
        link = LinkFacts(self._line_rate_bps, request.mtu_bytes, has_limiter=False)
        self._connection = Connection(settings, link, endpoint.queue_pair.qp_num, tracing=True)
        return Connected(request.role)

    def _start(self, request: Start) -> Started:
        if self._connection is None:
            raise MessageError("start before connect")
        if self._size_bytes is not None:
            raise MessageError("start: this role's flow was started already")
        if request.size_bytes > self._writable_bytes:
            raise SettingsError(
                "size_bytes", request.size_bytes, f"at most {self._writable_bytes}, the buffers' size"
            )
        self._size_bytes = request.size_bytes
        return Started(request.role)

    def _result(self, request: Result) -> Results:
        sha256 = self._endpoint.buffer.sha256()
        if self._flow is None or self._loop is None:
            return Results(request.role, sha256, status="idle")
        flow, transfer = self._flow, self._flow.transfers[0]
        spent = {**asdict(self._loop.spent), "posting_ns": flow.posting_ns}
        return Results(
            request.role,
            sha256,
            status=transfer.status,
            error=transfer.error,
            start_ns=transfer.start_ns,
            end_ns=transfer.end_ns or transfer.start_ns,
            verbs=flow.posted_verbs,
            batches=flow.posted_batches,
            spent=spent,
            samples_path=str(self._workplace.samples),
        )


@contextmanager
def prepared(request: Prepare, workplace: Workplace) -> Iterator[Role]:
    """Find the port of the experiment address and open an endpoint on it, filled as asked."""
    port = find_port(request.address, workplace.sysfs)
    line_rate_bps = request.line_rate_bps or port.rate_bps
    settings = settings_for(request.transport, line_rate_bps, request.parameters)
    with opened(
        workplace.library, port, request.buffer_bytes, settings.send_queue_verbs, clock.nic_ns
    ) as endpoint:
        if request.fill_seed is not None:
            endpoint.buffer.fill(request.fill_seed)
        yield Role(workplace, endpoint, settings, line_rate_bps)
