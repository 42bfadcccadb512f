"""One end of a connection: device, memory, completion queue and queue pairs."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rogue.agent.core.actions import SUCCESS, Completion
from rogue.agent.core.clocks import NicNs
from rogue.agent.core.resync import NONCE_BYTES
from rogue.agent.drivers.verbs import side_channel
from rogue.agent.drivers.verbs.completion_queue import DATAGRAM, CompletionQueue, EventQueue, PolledQueue
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.memory import RECEIVE, Buffer, ReceiveRing, owner_of
from rogue.agent.drivers.verbs.pyverbs import Pyverbs, VerbsError
from rogue.agent.drivers.verbs.queue_pair import (
    PathAttributes,
    QueuePair,
    QueueSizes,
    RemoteMemory,
    RemoteQueuePair,
    mtu_of_code,
)
from rogue.agent.drivers.verbs.side_channel import QKEY_BITS, RemoteSide, SideChannel

_SPARE_ENTRIES = 16
_PSN_BITS = 24


@dataclass(frozen=True)
class EndpointPlan:
    """Resources of an endpoint.

    receives, receive_bytes: number of receives of each queue pair, and the longest message of one.
    receives_in_buffer: messages arrive in the buffer itself, one after the other.
    completions: by events, or polled without pause.
    draw: returns a number of secret random bits.
    """

    service: Literal["rc", "uc"]
    buffer_bytes: int
    sends: int
    has_shadow: bool = False
    receives: int = 0
    receive_bytes: int = 16
    receives_in_buffer: bool = False
    completions: Literal["event", "polling"] = "event"
    draw: Callable[[int], int] = secrets.randbits


@dataclass(frozen=True)
class Remote:
    """The other endpoint: its queue pairs, side channel and memory."""

    ends: tuple[RemoteQueuePair, ...]
    side: RemoteSide | None
    memory: RemoteMemory


class Arrived(NamedTuple):
    """One poll, sorted by kind of entry."""

    sends: list[Completion]
    receives: dict[int, list[Completion]]
    datagrams: list[bytes]


@dataclass(frozen=True)
class Endpoint:
    """An open endpoint: main queue pair first, then the shadow, each with its first PSN.

    `nonce` is this end's part of the connection's seal.
    """

    port: PortAddress
    active_mtu_bytes: int
    buffer: Buffer
    queue: CompletionQueue
    pairs: tuple[QueuePair, ...]
    psns: tuple[int, ...]
    rings: tuple[ReceiveRing, ...]
    side: SideChannel | None
    nonce: bytes

    @property
    def queue_pair(self) -> QueuePair:
        """The main queue pair."""
        return self.pairs[0]

    def connect(self, remote: Remote, path: PathAttributes) -> None:
        """Bring every queue pair to RTS, with its receives posted."""
        for pair, psn, end in zip(self.pairs, self.psns, remote.ends, strict=True):
            pair.connect(self.port, psn, end, path)
        for ring in self.rings:
            ring.renew()
        if self.side is not None:
            assert remote.side is not None, "a side channel, but none at the peer"
            self.side.connect(self.port, remote.side, path.dscp)

    @property
    def strangers(self) -> int:
        """Number of datagrams from other senders than the peer."""
        return 0 if self.side is None else self.side.strangers

    def pair_of(self, qp_num: int) -> QueuePair:
        """Return the queue pair with this number."""
        return next(pair for pair in self.pairs if pair.qp_num == qp_num)

    def reset(self, qp_num: int) -> None:
        """Bring a queue pair to RESET; the cause of its failure may have changed the port's GID index."""
        self.pair_of(qp_num).reset()
        if self.side is not None:
            self.side.renew_address()

    def ready(self, qp_num: int, sq_psn: int, rq_psn: int) -> None:
        """Bring a queue pair from RESET back to RTS."""
        self.pair_of(qp_num).ready(sq_psn, rq_psn)
        self._renew(qp_num)

    def move(self, priority: int) -> None:
        """Send with another priority from now on; no verb may be outstanding.

        Queue pairs that are not in RTS move when they are ready again.
        """
        for pair in self.pairs:
            if pair.priority != priority and pair.move(priority):
                self._renew(pair.qp_num)

    def sort(self, completions: list[Completion]) -> Arrived:
        """Separate sends, receives and datagrams, and post used receives again.

        Flushed receives, and those from before a reset of their queue pair, are dropped.
        """
        sends: list[Completion] = []
        receives: dict[int, list[Completion]] = {}
        datagrams: list[bytes] = []
        for entry in completions:
            wr_id, status = entry[0], entry[1]
            if wr_id < DATAGRAM:
                sends.append(entry)
            elif wr_id & RECEIVE:
                ring = self.rings[owner_of(wr_id)]
                if status == SUCCESS and ring.is_of_this_life(wr_id):
                    receives.setdefault(ring.qp_num, []).append(entry)
                    ring.post_again(wr_id)
            elif self.side is not None and status == SUCCESS:
                payload = self.side.take(wr_id, entry[3])
                if payload is not None:
                    datagrams.append(payload)
        return Arrived(sends, receives, datagrams)

    def _renew(self, qp_num: int) -> None:
        for ring in self.rings:
            if ring.qp_num == qp_num:
                ring.renew()


@contextmanager
def opened(
    pyverbs: Pyverbs, port: PortAddress, plan: EndpointPlan, clock: Callable[[], NicNs]
) -> Iterator[Endpoint]:
    """Open the planned resources on the port's device, and close them at the end."""
    with ExitStack() as stack:
        try:
            endpoint = _open(pyverbs, port, plan, clock, stack)
        except pyverbs.error as error:
            raise VerbsError("opening", f"device {port.device}, port {port.port}: {error}") from error
        yield endpoint


def _open(
    pyverbs: Pyverbs, port: PortAddress, plan: EndpointPlan, clock: Callable[[], NicNs], stack: ExitStack
) -> Endpoint:
    context = pyverbs.device.Context(name=port.device)
    stack.callback(context.close)
    active_mtu_bytes = mtu_of_code(int(context.query_port(port.port).active_mtu))
    domain = pyverbs.pd.PD(context)
    stack.callback(domain.close)
    buffer = Buffer(pyverbs, domain, plan.buffer_bytes)
    stack.callback(buffer.close)
    count = 2 if plan.has_shadow else 1
    entries = count * (plan.sends + plan.receives) + side_channel.ENTRIES + _SPARE_ENTRIES
    queue_class = EventQueue if plan.completions == "event" else PolledQueue
    queue = queue_class(pyverbs, context, entries, clock)
    stack.callback(queue.close)
    pairs = []
    for _ in range(count):
        pairs.append(
            QueuePair(pyverbs, domain, queue.cq, plan.service, QueueSizes(plan.sends, plan.receives))
        )
        stack.callback(pairs[-1].close)
    side = None
    if plan.has_shadow:
        side = SideChannel(pyverbs, domain, queue, plan.draw(QKEY_BITS))
        stack.callback(side.close)
    rings = _rings(pyverbs, domain, plan, pairs, buffer, stack) if plan.receives else ()
    psns = tuple(plan.draw(_PSN_BITS) for _ in pairs)
    nonce = plan.draw(8 * NONCE_BYTES).to_bytes(NONCE_BYTES, "big")
    return Endpoint(port, active_mtu_bytes, buffer, queue, tuple(pairs), psns, rings, side, nonce)


def _rings(  # noqa: PLR0913 - resources of a ring
    pyverbs: Pyverbs,
    domain: object,
    plan: EndpointPlan,
    pairs: list[QueuePair],
    buffer: Buffer,
    stack: ExitStack,
) -> tuple[ReceiveRing, ...]:
    """Create the receives of each queue pair, in the buffer or in separate memory."""
    slots = plan.receives
    if plan.receives_in_buffer:
        slots = max(1, min(slots, buffer.size_bytes // plan.receive_bytes))
    else:
        buffer = Buffer(pyverbs, domain, slots * plan.receive_bytes)
        stack.callback(buffer.close)
    memory = buffer.address, buffer.lkey
    return tuple(
        ReceiveRing(pyverbs, pair, owner, slots, plan.receive_bytes, memory)
        for owner, pair in enumerate(pairs)
    )
