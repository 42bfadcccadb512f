"""When batches have left a host whose device calls them sent as soon as its own limiter has them."""

from collections import deque

from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.completions import Completion

_NS_PER_S = 1_000_000_000
_BITS_PER_BYTE = 8


class Departures:
    """Dates completions over UC, where a limiter behind the device holds packets that the device calls sent.

    Posted verbs leave one after the other, at the rate in force; a new rate acts on all that has not left. A
    completion is then of the instant at which the last byte leaves, unless it comes later than that. Packets
    of other flows that share the host's port are not known here: behind them a batch leaves later.

    Source: Linux, drivers/infiniband/sw/rxe/rxe_req.c: a verb of an unreliable connection completes when its
    last packet was handed over (update_wqe_state), and RXE_INFLIGHT_SKBS_PER_QP_HIGH packets may wait below.
    Test: test_departures.py::test_worked_example.
    """

    def __init__(self) -> None:
        self._rate_bps = 0
        self._left_ns = HostNs(0)
        self._pending: deque[tuple[int, HostNs]] = deque()

    def on_rate(self, now: HostNs, rate_bps: int) -> None:
        """What has not left goes on at this rate."""
        before_bps, self._rate_bps = self._rate_bps or rate_bps, rate_bps

        def moved(left_ns: HostNs) -> HostNs:
            return HostNs(now + max(0, left_ns - now) * before_bps // rate_bps)

        self._left_ns = moved(self._left_ns)
        self._pending = deque((wr_id, moved(left_ns)) for wr_id, left_ns in self._pending)

    def on_post(self, now: HostNs, wr_id: int, wire_bytes: int, *, is_signaled: bool) -> None:
        """A verb was posted behind the others."""
        assert self._rate_bps, f"verb {wr_id} is posted, but the limiter has no rate yet"
        bits = wire_bytes * _BITS_PER_BYTE * _NS_PER_S
        self._left_ns = HostNs(max(now, self._left_ns) + bits // self._rate_bps)
        if is_signaled:
            self._pending.append((wr_id, self._left_ns))

    def dated(self, sends: list[Completion]) -> list[Completion]:
        """The same completions, none of an instant before its last byte has left."""
        return [self._dated(each) for each in sends]

    def _dated(self, completion: Completion) -> Completion:
        wr_id, status, nic_ns, byte_len, immediate = completion
        if not self._pending or self._pending[0][0] != wr_id:
            return completion
        _, left_ns = self._pending.popleft()
        return wr_id, status, NicNs(max(nic_ns, left_ns)), byte_len, immediate
