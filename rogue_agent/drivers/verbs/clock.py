"""Sources of timestamps, and when batches leave the host."""

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


_NS_PER_MS = 1_000_000
_PAIR_NS = 1_000_000
"""So old may a pair of readings be: clocks that drift by 100 parts per million are 0.1 us apart by then."""
_PAIR_WIDTH_NS = 5_000
_PAIR_TRIES = 3
"""A pair that took longer was interrupted; the narrowest of so many counts."""


host_ns = cast("Callable[[], HostNs]", time.monotonic_ns)
"""Reads the clock that timers run on; nothing stands between, for a verb has five readings."""
nic_ns = cast("Callable[[], NicNs]", time.monotonic_ns)
"""Reads the host's clock in place of the NIC's."""


class Clocks(NamedTuple):
    """What a flow reads: `host` for timers, `stamp` for posts, which is of one clock with completions."""

    host: Callable[[], HostNs]
    stamp: Callable[[], NicNs]


class NicClock:
    """The NIC's free-running counter, in nanoseconds.

    A completion's timestamp has fewer bits than the counter: 48 of 64 on mlx4, 63 on mlx5. So one means the
    time nearest to the last that was read; at 427 MHz 48 bits come round after 7.6 days.

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
            raise VerbsError("ibv_query_device_ex", "the NIC does not tell its clock's frequency")
        if self._mask <= 0:
            raise VerbsError("ibv_query_device_ex", "the NIC does not tell how many bits its timestamps have")

    def now(self) -> NicNs:
        """Read the counter."""
        return self.of_cycles(self._read(self._raw_clock)[1])

    def of_cycles(self, cycles: int) -> NicNs:
        """Nanoseconds of a raw reading or timestamp. Test: test_clock.py::test_cycles_worked_example."""
        ahead = (cycles - self._last_cycles) & self._mask
        if ahead > self._mask >> 1:  # it is from before the last
            ahead -= self._mask + 1
        self._last_cycles += ahead
        return NicNs(self._last_cycles * _NS_PER_MS // self._khz)


class PairedClock:
    """The NIC's clock by the host's: both are read together once a millisecond, and the host's in between.

    To read the NIC's takes three registers of a card over PCIe, some microseconds, and each post needs a
    stamp. A card's wall clock would be no help: it is of the host's time only where something keeps it so.

    Source: rdma-core, providers/mlx5/verbs.c (mlx5_read_clock).
    Test: test_clock.py::test_paired_worked_example.
    """

    def __init__(self, nic: Callable[[], NicNs], host: Callable[[], int]) -> None:
        self._nic = nic
        self._host = host
        self._pair()

    def now(self) -> NicNs:
        """Read the host's clock, and the NIC's if it was not for long."""
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
