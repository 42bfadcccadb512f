"""Sources of timestamps, and the departure of batches from the host."""

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, cast

from rogue.agent.core.actions import Completion
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.verbs.pyverbs import VerbsError

_NS_PER_S = 1_000_000_000
_BITS_PER_BYTE = 8


class Departures:
    """Corrects the times of completions over UC, if a limiter behind the device holds sent packets.

    Posted verbs leave one after the other at the effective rate; a new rate applies to all that has not left.
    A completion gets the time at which the last byte leaves, unless it is later. Packets of other flows on
    the host's port are unknown here; a batch behind them leaves later.

    Source: Linux, drivers/infiniband/sw/rxe/rxe_req.c: a verb of an unreliable connection completes when its
    last packet was passed on (update_wqe_state), and RXE_INFLIGHT_SKBS_PER_QP_HIGH packets may wait below.
    Test: test_clock.py.
    """

    def __init__(self) -> None:
        self._rate_bps = 0
        self._left_ns = HostNs(0)
        self._pending: deque[tuple[int, HostNs]] = deque()

    def on_rate(self, now: HostNs, rate_bps: int) -> None:
        """Apply a new rate to all that has not left."""
        before_bps, self._rate_bps = self._rate_bps or rate_bps, rate_bps

        def moved(left_ns: HostNs) -> HostNs:
            return HostNs(now + max(0, left_ns - now) * before_bps // rate_bps)

        self._left_ns = moved(self._left_ns)
        self._pending = deque((wr_id, moved(left_ns)) for wr_id, left_ns in self._pending)

    def on_post(self, now: HostNs, wr_id: int, wire_bytes: int, *, is_signaled: bool) -> None:
        """Add a posted verb."""
        assert self._rate_bps, f"verb {wr_id} is posted, but the limiter has no rate yet"
        bits = wire_bytes * _BITS_PER_BYTE * _NS_PER_S
        self._left_ns = HostNs(max(now, self._left_ns) + bits // self._rate_bps)
        if is_signaled:
            self._pending.append((wr_id, self._left_ns))

    def dated(self, sends: list[Completion]) -> list[Completion]:
        """Return the completions, none earlier than the departure of its last byte."""
        return [self._dated(each) for each in sends]

    def _dated(self, completion: Completion) -> Completion:
        wr_id, status, nic_ns, byte_len, immediate = completion
        if not self._pending or self._pending[0][0] != wr_id:
            return completion
        _, left_ns = self._pending.popleft()
        return wr_id, status, NicNs(max(nic_ns, left_ns)), byte_len, immediate


_NS_PER_MS = 1_000_000
_PAIR_NS = 1_000_000
"""Maximum age of a pair of readings: a drift of 100 ppm is 0.1 us by then."""
_PAIR_WIDTH_NS = 5_000
_PAIR_TRIES = 3
"""A wider pair was interrupted; the narrowest of three counts."""


host_ns = cast("Callable[[], HostNs]", time.monotonic_ns)
"""Clock of timers, without a wrapper because each verb reads it five times."""
nic_ns = cast("Callable[[], NicNs]", time.monotonic_ns)
"""The host's clock in place of the NIC's."""


class Clocks(NamedTuple):
    """Clocks of a flow: `host` for timers, `stamp` for posts, the same clock as that of completions."""

    host: Callable[[], HostNs]
    stamp: Callable[[], NicNs]


class NicClock:
    """The NIC's free-running counter, in nanoseconds.

    A completion's timestamp has fewer bits than the counter: 48 of 64 on mlx4, 63 on mlx5. It means the time
    nearest to the last reading; at 427 MHz 48 bits wrap after 7.6 days.

    `context` offers `query_rt_values_ex` and `query_device_ex`, as pyverbs does; `raw_clock` is the mask of
    the former. Raises VerbsError where the NIC has no such counter.

    Source: rdma-core, ibv_query_device_ex(3), `completion_timestamp_mask`; Linux,
    drivers/infiniband/hw/mlx4/main.c (0xFFFFFFFFFFFF) and mlx5/main.c (0x7FFFFFFFFFFFFFFF).
    """

    def __init__(self, context: object, raw_clock: int, error: type[Exception]) -> None:
        self._read: Callable[[int], tuple[int, int]] = context.query_rt_values_ex  # type: ignore[attr-defined]
        self._raw_clock = raw_clock
        try:
            device = context.query_device_ex()  # type: ignore[attr-defined]
            self._khz, self._mask = int(device.hca_core_clock), int(device.completion_timestamp_mask)
            self._last_cycles = self._read(raw_clock)[1]
        except error as problem:
            raise VerbsError("ibv_query_rt_values_ex", str(problem)) from problem
        if self._khz <= 0:
            raise VerbsError("ibv_query_device_ex", "the NIC does not report its clock's frequency")
        if self._mask <= 0:
            raise VerbsError("ibv_query_device_ex", "the NIC does not report the bits of its timestamps")

    def now(self) -> NicNs:
        """Read the counter."""
        return self.of_cycles(self._read(self._raw_clock)[1])

    def of_cycles(self, cycles: int) -> NicNs:
        """Convert a raw reading or timestamp to ns. Test: test_clock.py::test_cycles_worked_example."""
        ahead = (cycles - self._last_cycles) & self._mask
        if ahead > self._mask >> 1:  # it is from before the last
            ahead -= self._mask + 1
        self._last_cycles += ahead
        return NicNs(self._last_cycles * _NS_PER_MS // self._khz)


class PairedClock:
    """The NIC's clock, extrapolated by the host's: both are read together once a millisecond.

    A reading of the NIC's clock takes some microseconds (three registers over PCIe), and each post needs a
    timestamp. A card's wall clock does not help, because it may not follow the host's.

    Source: rdma-core, providers/mlx5/verbs.c (mlx5_read_clock).
    Test: test_clock.py::test_paired_worked_example.
    """

    def __init__(self, nic: Callable[[], NicNs], host: Callable[[], int]) -> None:
        self._nic = nic
        self._host = host
        self._pair()

    def now(self) -> NicNs:
        """Return the NIC's time from the host's clock, after a new pair of readings if the last is old."""
        host_ns = self._host()
        if host_ns >= self._renewed_ns + _PAIR_NS:
            self._pair()
            host_ns = self._host()
        return NicNs(host_ns + self._ahead_ns)

    def _pair(self) -> None:
        narrowest_ns = None
        before_ns = self._host()
        for _ in range(_PAIR_TRIES):
            nic_ns = self._nic()
            after_ns = self._host()
            width_ns = after_ns - before_ns
            if narrowest_ns is None or width_ns < narrowest_ns:
                narrowest_ns = width_ns
                self._ahead_ns = nic_ns - (before_ns + after_ns) // 2
            if narrowest_ns <= _PAIR_WIDTH_NS:
                break
            before_ns = after_ns
        self._renewed_ns = after_ns
