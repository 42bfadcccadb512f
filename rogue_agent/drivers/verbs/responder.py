"""The passive end of a connection on real verbs: the receiver-side library on its queue pairs."""

from collections.abc import Callable
from functools import partial

from rogue.agent.core.actions import (
    NO_TRANSFER,
    Completion,
    PostSend,
    ReadyQueuePair,
    ResetQueuePair,
    SendPeer,
)
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.errors import PostRefused
from rogue.agent.core.immediates import APPLICATION_MAX, BATCH_TAG, tag_of, transfer_immediate
from rogue.agent.core.library import AcknowledgeBatch, Library, LibraryAction, SetResponseRate
from rogue.agent.core.resync import Seal
from rogue.agent.drivers.limiters.base import RateLimiter
from rogue.agent.drivers.recording import Table, ThroughputMeter
from rogue.agent.drivers.step import PeerListener
from rogue.agent.drivers.verbs.endpoint import Endpoint
from rogue.agent.drivers.verbs.queue_pair import RemoteMemory

SENDS = 128
_SIGNAL_EVERY = 32
"""An unsignalled verb occupies the send queue until a later signalled one has completed."""


class VerbsResponder(PeerListener):
    """Serves one requester: acknowledges its batches, paces responses to its READs, resets lost queue pairs.

    Invalid messages of the peer are dropped and counted in `mistakes`. `on_arrival` gets the number (from 1)
    of each transfer whose last verb has arrived.
    """

    def __init__(  # noqa: PLR0913 - resources and records
        self,
        endpoint: Endpoint,
        memory: RemoteMemory,
        limiter: RateLimiter | None,
        events: Table,
        meter: ThroughputMeter,
        clock: Callable[[], NicNs],
        seal: Seal | None,
        on_arrival: Callable[[int, HostNs], None] | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._local = endpoint.buffer.address, endpoint.buffer.lkey
        self._remote = memory.address, memory.rkey
        self._limiter = limiter
        if limiter is not None:
            limiter.on_acting = meter.limit
        self._events = events
        self._meter = meter
        self._clock = clock
        self._on_arrival = on_arrival
        self._arrived = 0
        self._library = Library(*(pair.qp_num for pair in endpoint.pairs), seal=seal)
        self._datagrams: list[bytes] = []
        self._acknowledgements = 0
        self.delivered_messages = 0

    def on_completions(self, now: HostNs, completions: list[Completion]) -> None:
        """Handle the entries of one poll; datagrams wait until the completion queue is empty."""
        _, receives, datagrams = self._endpoint.sort(completions)
        self._datagrams += datagrams
        for qp_num, entries in receives.items():
            self._meter.add(now, sum(byte_len for _, _, _, byte_len, imm in entries if _is_payload(imm)))
            nic_now = self._clock()
            self._pass_on(partial(self._library.on_receives, qp_num, entries, nic_now))
            self._carry_out_actions(now)

    def on_empty(self, now: HostNs) -> None:
        """Handle the datagrams, after the completion queue is empty."""
        datagrams, self._datagrams = self._datagrams, []
        for payload in datagrams:
            self._pass_on(partial(self._library.on_peer_message, payload))
            self._carry_out_actions(now)

    def _carry_out_actions(self, now: HostNs) -> None:
        for action in self._library.actions():
            self._carry_out(action, now)

    def _carry_out(self, action: LibraryAction, now: HostNs) -> None:
        if isinstance(action, AcknowledgeBatch):
            self._acknowledge(action)
        elif isinstance(action, SetResponseRate):
            if self._limiter is not None:
                effective_bps = self._limiter.set_rate(action.rate_bps, now)
                if effective_bps is not None:
                    self._meter.limit(now, effective_bps)
        elif isinstance(action, ResetQueuePair):
            self._endpoint.reset(action.qp_num)
            self._events.row(now, "reset", f"queue pair {action.qp_num}")
        elif isinstance(action, ReadyQueuePair):
            self._endpoint.ready(action.qp_num, action.sq_psn, action.rq_psn)
            self._events.row(now, "resynchronised", f"queue pair {action.qp_num}")
        elif isinstance(action, SendPeer):
            assert self._endpoint.side is not None, "a reply, although there is no side channel"
            self._endpoint.side.send(action.payload)
        else:
            self.delivered_messages += 1
            self._count_arrival(action.imm, now)

    def _count_arrival(self, imm: int | None, now: HostNs) -> None:
        """Count a transfer whose last verb has arrived; the library delivers them in order and once."""
        if imm is None or self._on_arrival is None:
            return
        if imm != transfer_immediate(self._arrived + 1):
            self.mistakes += 1
            return
        self._arrived += 1
        self._on_arrival(self._arrived, now)

    def _acknowledge(self, action: AcknowledgeBatch) -> None:
        """Post an immediate; a refused one is lost, as can happen to any over UC."""
        self._acknowledgements += 1
        is_signaled = self._acknowledgements % _SIGNAL_EVERY == 0
        send = PostSend(self._acknowledgements, NO_TRANSFER, 0, 0, is_signaled, "write", action.imm)
        try:
            self._endpoint.pair_of(action.qp_num).post(send, self._local, self._remote)
        except PostRefused:
            self.mistakes += 1


def _is_payload(imm: int | None) -> bool:
    """True if a receive has bytes of the application: any except a rate."""
    return imm is None or imm <= APPLICATION_MAX or tag_of(imm) == BATCH_TAG
