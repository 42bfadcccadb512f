"""The simulated path between a requester and its library."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Literal, Protocol, cast

from rogue.agent.core.actions import Completion, ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.errors import PeerError
from rogue.agent.core.library import AcknowledgeBatch, Library, LibraryAction, SetResponseRate
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer, QueuePairNumbers
from rogue.agent.core.resync import NONCE_BYTES, Seal
from rogue.agent.core.settings import TransportSettings
from rogue.agent.drivers.simulated_limiters import NicLimiters
from rogue.simulator import DatagramQueuePair, Memory, QueuePair, Simulation


class Arrivals:
    """Detects when all of a transfer is in the receiver's memory.

    Verbs of a queue pair arrive in posting order, so a transfer has arrived when all bytes posted up to its
    last verb have. What a lost queue pair did not deliver is posted again on the other one.
    """

    def __init__(self, records: Sequence[TransferRecord], on_arrival: Callable[[int, HostNs], None]) -> None:
        self._records = records
        self._on_arrival = on_arrival
        self._posted_bytes: dict[int, int] = {}

    def on_posted(self, end: QueuePair, length_bytes: int, transfer_id: int, end_bytes: int) -> None:
        """Record a posted verb that ends at `end_bytes` of its transfer."""
        posted_bytes = self._posted_bytes.get(end.qp_num, 0) + length_bytes
        self._posted_bytes[end.qp_num] = posted_bytes
        if transfer_id > 0 and end_bytes == self._records[transfer_id - 1].size_bytes:
            end.call_when_delivered(posted_bytes, partial(self._on_delivered, transfer_id))

    def on_ready(self, end: QueuePair) -> None:
        """Record a reset: bytes that were posted and not delivered are lost."""
        self._posted_bytes[end.qp_num] = end.delivered_bytes

    def on_done(self, transfer_id: int, now: HostNs) -> None:
        """Record the end of a transfer, by which a READ has arrived."""
        if self._records[transfer_id - 1].arrived_ns is None:
            self._on_delivered(transfer_id, now)

    def _on_delivered(self, transfer_id: int, host_ns: int) -> None:
        record = self._records[transfer_id - 1]
        if record.arrived_ns is None:
            record.arrived_ns = HostNs(host_ns)
            self._on_arrival(transfer_id, HostNs(host_ns))


Pair = tuple[QueuePair, QueuePair]
"""The requester's end and the passive one."""
CqEntry = tuple[int, int, int, int, int | None]
"""A `Completion` as the engine knows it, whose clocks have no types of their own."""

NO_LIMITERS: Mapping[str, NicLimiters] = {}
"""Each queue pair has its own limiter."""


class Connect(Protocol):
    """Connects two hosts, as `Simulation.connect` does."""

    def __call__(  # noqa: D102, PLR0913 - as in the engine
        self, a: str, b: str, /, *, mtu_bytes: int, retry_count: int, timeout_exponent: int, path_seed: int,
        service: Literal["rc", "uc"], limiter_of: QueuePair | None = None,
    ) -> Pair: ...  # fmt: skip


@dataclass(frozen=True, slots=True)
class SimulatedPath:
    """The connected resources of one flow between two hosts, the requester's end first.

    `has_memory`: the queue pairs are bound to memories, so verbs need their offsets. `limiters`: those of the
    two NICs, None if each queue pair has its own.
    """

    main: Pair
    shadow: Pair | None = None
    side_channel: tuple[DatagramQueuePair, DatagramQueuePair] | None = None
    has_memory: bool = False
    limiters: tuple[NicLimiters | None, NicLimiters | None] = (None, None)
    seal: Seal | None = None

    @property
    def pairs(self) -> list[Pair]:
        """Main, and shadow if there is one."""
        return [self.main] if self.shadow is None else [self.main, self.shadow]

    def bound(self, local: Memory, remote: Memory) -> "SimulatedPath":
        """Bind the requester's ends to memories of at least a whole transfer, so that verbs move bytes."""
        for end, _ in self.pairs:
            end.bind(local, remote)
        return replace(self, has_memory=True)

    def peer(self, link: LinkFacts) -> Peer:
        """Return the core's facts about the other end, whose NIC port is `link`."""
        shadow = None if self.shadow is None else QueuePairNumbers(*(end.qp_num for end in self.shadow))
        return Peer(link, self.main[1].qp_num, shadow, self.seal)


def open_path(  # noqa: PLR0913 - two hosts and properties of the flow
    simulation: Simulation,
    source: str,
    destination: str,
    *,
    settings: TransportSettings,
    mtu_bytes: int,
    path_seed: int = 0,
    limiters: Mapping[str, NicLimiters] = NO_LIMITERS,
    connect: Connect | None = None,
) -> SimulatedPath:
    """Connect the resources of the transport; the shadow shares the main pair's limiter and route.

    `limiters` has an entry for each host whose NIC has too few limiters. `connect`: `Simulation.connect`, or
    the same with more properties of the connection.
    """
    shared = (limiters.get(source), limiters.get(destination))
    make_pair = partial(
        connect or simulation.connect,
        source,
        destination,
        mtu_bytes=mtu_bytes,
        retry_count=settings.retry_count,
        timeout_exponent=settings.timeout_exponent,
        path_seed=path_seed,
        service=settings.service,
    )
    main = make_pair()
    if not settings.has_shadow:
        return SimulatedPath(main, limiters=shared)
    side_channel = (simulation.datagram_queue_pair(source), simulation.datagram_queue_pair(destination))
    seal = _seeded_seal(path_seed, main)
    return SimulatedPath(main, make_pair(limiter_of=main[0]), side_channel, limiters=shared, seal=seal)


def _seeded_seal(seed: int, main: Pair) -> Seal:
    """Return the seal, which introductions over SSH give on nodes, from a seed."""
    nonces = (
        sha256(f"nonce of queue pair {end.qp_num}, seed {seed}".encode()).digest()[:NONCE_BYTES]
        for end in main
    )
    return Seal(*nonces)


PROCESSING_NS = 3_000
"""Time from a receive completion to the library's reaction: waking up, reading, posting."""


class SimulatedLibrary:
    """Serves the passive ends of a path's queue pairs, PROCESSING_NS after each event.

    Plain WRITEs over RC cause no receives, and need no callback. `delivered_messages` and `delivered_bytes`
    count SENDs and immediates for the application. `mistakes` are errors of invalid messages, which are
    dropped.
    """

    def __init__(self, simulation: Simulation, path: SimulatedPath, *, has_receives: bool = True) -> None:
        self._simulation = simulation
        self._ends = {end.qp_num: end for _, end in path.pairs}
        self._side_channel = path.side_channel
        self._library = Library(*self._ends, seal=path.seal)
        self.delivered_messages = 0
        self.delivered_bytes = 0
        self.mistakes: list[str] = []
        for end in self._ends.values():
            self._attach(end, has_receives=has_receives)
        if path.side_channel is not None:
            path.side_channel[1].attach(self._on_datagrams)

    def _attach(self, end: QueuePair, *, has_receives: bool) -> None:
        def on_receives(host_ns: int, entries: list[CqEntry]) -> None:
            def process(_now_ns: int) -> None:
                completions, nic_now = cast("list[Completion]", entries), NicNs(end.nic_clock_ns())
                self._do(lambda: self._library.on_receives(end.qp_num, completions, nic_now))

            self._simulation.schedule(host_ns + PROCESSING_NS, process)

        def on_completions(_host_ns: int, _entries: list[CqEntry]) -> None:
            """Ignore: acknowledgements are unsignalled, and flushed ones are lost."""

        def on_qp_event(_host_ns: int, _qp_state: int) -> None:
            """Ignore: the requester notices as well, and requests a reset."""

        end.attach(on_completions, on_qp_event, on_receives if has_receives else None)

    def _on_datagrams(self, host_ns: int, datagrams: Sequence[tuple[int, int, bytes]]) -> None:
        payloads = [payload for _, _, payload in datagrams]

        def process(_now_ns: int) -> None:
            for payload in payloads:
                self._do(partial(self._library.on_peer_message, payload))

        self._simulation.schedule(host_ns + PROCESSING_NS, process)

    def _do(self, take: Callable[[], None]) -> None:
        """Pass an input to the library, and carry out its actions."""
        try:
            take()
        except PeerError as error:
            self.mistakes.append(str(error))
        for action in self._library.actions():
            self._carry_out(action)

    def _carry_out(self, action: LibraryAction) -> None:
        if isinstance(action, AcknowledgeBatch):
            self._ends[action.qp_num].post_write(0, 0, False, imm=action.imm)
        elif isinstance(action, SetResponseRate):
            self._ends[action.qp_num].set_rate(action.rate_bps)
        elif isinstance(action, ResetQueuePair):
            self._ends[action.qp_num].reset()
        elif isinstance(action, ReadyQueuePair):
            self._ends[action.qp_num].ready(sq_psn=action.sq_psn, rq_psn=action.rq_psn)
        elif isinstance(action, SendPeer):
            assert self._side_channel is not None, "a reply, although there is no side channel"
            requester, library = self._side_channel
            library.post_send(0, requester, action.payload)
        else:
            self.delivered_messages += 1
            self.delivered_bytes += action.byte_len
