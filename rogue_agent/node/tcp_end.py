"""The two ends of a flow over TCP: the requester sends, the responder listens and receives."""

import os
import select
import socket
from functools import partial

from rogue.agent.baselines.tcp_flow import HEADER_BYTES, TOKEN_BITS, TcpReceiver, TcpSender, encode_proof
from rogue.agent.baselines.tcp_socket import GAUGES, TcpInfo, connect, info_of, listen
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.drivers import recording
from rogue.agent.drivers.recording import TransferLog
from rogue.agent.drivers.verbs.card_facts import COLUMNS as COUNTER_COLUMNS
from rogue.agent.drivers.verbs.memory import Memory
from rogue.agent.drivers.verbs.queue_pair import tos
from rogue.agent.node.fields import MessageError
from rogue.agent.node.messages import Prepare, Prepared
from rogue.agent.node.role import End, NodeContext, Report, random_bits

_CANDIDATES_MAX = 64
"""Connections without a token that stay open: each one holds a descriptor of this process."""


class TcpEnd(End):
    """Memory in an anonymous file, and the connection once it exists."""

    def __init__(self, request: Prepare, node: NodeContext) -> None:
        if request.parameters or request.verb != "write":
            raise SettingsError(
                "parameters", request.parameters or request.verb, "none: TCP has no parameters and no verbs"
            )
        self._request = request
        self._node = node
        self._file = os.memfd_create(request.role)
        os.ftruncate(self._file, request.buffer_bytes)
        self._memory = Memory(request.buffer_bytes, self._file)
        if request.fill_seed is not None:
            self._memory.fill(request.fill_seed)
        self._connection: socket.socket | None = None
        self._last_info: TcpInfo | None = None

    def introduce(self, role: str) -> Prepared:
        """Return this end's address, and its port if it listens."""
        return Prepared(
            role,
            service="tcp",
            address=self._request.address,
            line_rate_bps=self._request.line_rate_bps or 0,
            mtu_bytes=1500,
            clock="host",
            completions="event",
            limiter="none",
            buffer_bytes=self._request.buffer_bytes,
            tcp_port=self._listening_port(),
            tcp_token=self._token,
        )

    _token: int | None = None

    def _listening_port(self) -> int | None:
        return None

    def checksum(self, size_bytes: int | None) -> str:
        """Return the SHA-256 of the memory."""
        return self._memory.sha256(size_bytes)

    def finish(self, now: HostNs) -> None:
        """Record the kernel's counters of the connection."""
        if self._connection is None:
            return
        self._last_info = info_of(self._connection)
        table = self._node.spool.table("counters", COUNTER_COLUMNS)
        for name, value in self._last_info._asdict().items():
            if name not in GAUGES:
                table.row(f"tcp_{name}", 0, value)

    def _facts(self) -> dict[str, object]:
        facts: dict[str, object] = {"congestion_control": self._request.transport}
        return facts if self._last_info is None else {**facts, **self._last_info._asdict()}

    def close(self) -> None:
        """Close connection and memory."""
        if self._connection is not None:
            self._connection.close()
        os.close(self._file)


class TcpSenderEnd(TcpEnd):
    """Follows a schedule."""

    is_requester = True
    _sender: TcpSender | None = None
    _is_waiting_for_room = False

    def connect(self, peer: Prepared) -> None:
        """Connect to the peer's port, and prove with its token who we are."""
        if peer.tcp_port is None:
            raise SettingsError("peer.tcp_port", None, "the port of a responder over TCP")
        if peer.tcp_token is None:
            raise SettingsError("peer.tcp_token", None, "the token of a responder over TCP")
        request, node = self._request, self._node
        self._connection = connect(
            request.address,
            (peer.address, peer.tcp_port),
            request.transport,
            tos(request.priority, request.dscp),
            request.interface,
        )
        self._connection.send(encode_proof(peer.tcp_token))
        self._log = TransferLog(node.spool.table("transfers", recording.TRANSFER_COLUMNS))
        self._sender = TcpSender(
            self._connection, self._file, request.buffer_bytes, self._log, peer.tcp_token
        )
        node.poller.watch(self._connection.fileno(), self._on_ready)

    def begin(self, start_ns: HostNs, schedule: Schedule | None) -> None:
        """Follow the schedule."""
        assert self._sender is not None and schedule is not None, "a requester is connected"
        events = self._node.transfer_events
        self._sender.follow(schedule, events)
        if events is not None:
            events.attach(self._sender.release)

    @property
    def deadline_ns(self) -> HostNs | None:
        """Instant at which the next transfer is due."""
        return None if self._sender is None else self._sender.deadline_ns

    def on_time(self, now: HostNs) -> None:
        """Start what is due, and wait for room in the socket only while something is to be sent."""
        if self._sender is None or self._connection is None:
            return
        self._sender.on_time(now)
        if self._sender.wants_to_send != self._is_waiting_for_room:
            self._is_waiting_for_room = self._sender.wants_to_send
            events = select.POLLIN | (select.POLLOUT if self._is_waiting_for_room else 0)
            self._node.poller.watch(self._connection.fileno(), self._on_ready, events)

    def _on_ready(self, now: HostNs) -> None:
        assert self._sender is not None and self._connection is not None, "watched once it is there"
        if not self._sender.on_readable(now):
            self._node.poller.leave(self._connection.fileno())
            return
        if self._sender.wants_to_send:
            self._sender.on_writable(now, self._node.clock)

    @property
    def is_finished(self) -> bool:
        """True if the schedule is done."""
        return self._sender is not None and self._sender.is_finished

    def finish(self, now: HostNs) -> None:
        """Cut off what still runs."""
        if self._sender is not None:
            self._sender.finish()
        super().finish(now)

    def report(self) -> Report:
        """Return the counters of the sender."""
        if self._sender is None:
            return Report(0)
        resent_bytes = None if self._last_info is None else self._last_info.retransmitted_bytes
        return Report(
            self._sender.moved_bytes,
            dict(self._log.ended),
            self._log.first_error,
            retransmitted_bytes=resent_bytes,
            spent={"sending_ns": self._sender.sending_ns},
            facts=self._facts(),
        )


class TcpReceiverEnd(TcpEnd):
    """Listens, and receives from its peer alone.

    A connection from the peer's address is a candidate until its first bytes have arrived. They must be the
    token, because other users of the peer's computer have the same address. The peer sends it at once;
    therefore a candidate beyond the maximum closes the one that has been silent for longest.
    """

    is_requester = False
    _receiver: TcpReceiver | None = None
    _peer_address = ""

    def __init__(self, request: Prepare, node: NodeContext) -> None:
        super().__init__(request, node)
        self._token: int = random_bits(request)(TOKEN_BITS)
        self._candidates: dict[int, socket.socket] = {}
        self._listener = listen(request.address, request.transport, request.interface, tos(0, request.dscp))
        self._meter = recording.ThroughputMeter(
            node.spool.table("throughput", recording.THROUGHPUT_COLUMNS),
            request.sample_interval_ns,
            request.first_sample_ns,
        )

    def _listening_port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def connect(self, peer: Prepared) -> None:
        """Accept connections from the peer's address from now on."""
        if peer.service != "tcp":
            raise MessageError(f"connect.peer.service: got {peer.service}, expected tcp")
        self._peer_address = peer.address
        self._node.poller.watch(self._listener.fileno(), self._accept)

    def _accept(self, _now: HostNs) -> None:
        connection, (address, *_) = self._listener.accept()
        if address != self._peer_address or self._connection is not None:
            connection.close()
            return
        if len(self._candidates) == _CANDIDATES_MAX:
            self._close_candidate(next(iter(self._candidates)))
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, HEADER_BYTES)
        self._candidates[connection.fileno()] = connection
        self._node.poller.watch(connection.fileno(), partial(self._examine, connection))

    def _examine(self, connection: socket.socket, now: HostNs) -> None:
        """Accept a candidate whose first bytes are the token, and close any other."""
        self._node.poller.leave(connection.fileno())
        del self._candidates[connection.fileno()]
        if not _proves(connection, self._token):
            connection.close()
            return
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
        self._connection = connection
        memory = memoryview(self._memory.mapped)
        events = self._node.transfer_events
        on_arrival = None if events is None else events.on_arrival
        self._receiver = TcpReceiver(connection, memory, self._meter, self._token, on_arrival)
        self._node.poller.watch(connection.fileno(), self._on_readable)
        self._close_candidates()
        self._on_readable(now)

    def _close_candidates(self) -> None:
        for descriptor in list(self._candidates):
            self._close_candidate(descriptor)

    def _close_candidate(self, descriptor: int) -> None:
        self._node.poller.leave(descriptor)
        self._candidates.pop(descriptor).close()

    def _on_readable(self, now: HostNs) -> None:
        assert self._receiver is not None and self._connection is not None, "watched once it is there"
        if not self._receiver.on_readable(now, self._node.clock):
            self._node.poller.leave(self._connection.fileno())

    def begin(self, start_ns: HostNs, schedule: Schedule | None) -> None:
        """Start the counters."""
        assert schedule is None, "a responder follows no schedule"
        self._meter.start(start_ns)

    def finish(self, now: HostNs) -> None:
        """End the intervals."""
        self._meter.close(now)
        super().finish(now)

    def report(self) -> Report:
        """Return the counters of the receiver."""
        if self._receiver is None:
            return Report(0)
        return Report(
            self._meter.total_bytes,
            spent={"receiving_ns": self._receiver.receiving_ns},
            facts={"transfers": self._receiver.transfers, **self._facts()},
        )

    def close(self) -> None:
        """Close listener, candidates, connection and memory."""
        self._listener.close()
        self._close_candidates()
        super().close()


def _proves(connection: socket.socket, token: int) -> bool:
    try:
        return connection.recv(HEADER_BYTES) == encode_proof(token)
    except OSError:
        return False
