"""The receiver-side library inside a simulation."""

from collections.abc import Callable, Sequence
from functools import partial

from rogue.agent.core.actions import ReadyQueuePair, ResetQueuePair, SendPeer
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.completions import Completion
from rogue.agent.core.errors import PeerError
from rogue.agent.core.library import AcknowledgeBatch, Library, LibraryAction, SetResponseRate
from rogue.agent.drivers.simulated_nic import NicQueuePair, SimulatedTime
from rogue.agent.drivers.simulated_path import SimulatedPath

PROCESSING_NS = 3_000
"""From the arrival of a receive completion until the library has acted: waking up, reading, posting."""


class SimulatedLibrary:
    """Serves the passive ends of a path's queue pairs, a little later than their news arrives.

    Plain WRITEs over RC bring it no receives, and need no such callback.
    `delivered_messages` and `delivered_bytes` are what SENDs and immediates brought to the application;
    `mistakes` are messages of the peer that made no sense, and were dropped.
    """

    def __init__(self, simulation: SimulatedTime, path: SimulatedPath, *, has_receives: bool = True) -> None:
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

    def _attach(self, end: NicQueuePair, *, has_receives: bool) -> None:
        def on_receives(host_ns: HostNs, completions: list[Completion]) -> None:
            def process(_now_ns: int) -> None:
                nic_now = end.nic_clock_ns()
                self._do(lambda: self._library.on_receives(end.qp_num, completions, nic_now))

            self._simulation.schedule(host_ns + PROCESSING_NS, process)

        def on_completions(_host_ns: HostNs, _completions: list[Completion]) -> None:
            """Acknowledgements are not signalled; what is flushed when our end fails is lost."""

        def on_qp_event(_host_ns: int, _qp_state: int) -> None:
            """The requester notices as well, and asks for a reset."""

        if has_receives:
            end.attach(on_completions, on_qp_event, on_receives)
        else:
            end.attach(on_completions, on_qp_event)

    def _on_datagrams(self, host_ns: int, datagrams: Sequence[tuple[int, int, bytes]]) -> None:
        payloads = [payload for _, _, payload in datagrams]

        def process(_now_ns: int) -> None:
            for payload in payloads:
                self._do(partial(self._library.on_peer_message, payload))

        self._simulation.schedule(host_ns + PROCESSING_NS, process)

    def _do(self, take: Callable[[], None]) -> None:
        """Give the library an input, and do what it asks for."""
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
