"""Counts what arrived, interval by interval, for the table `throughput`."""

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.spool import Table

COLUMNS = ("t_ns", "interval_ns", "delivered_bytes", "cwnd_over_rtt_bps", "limiter_bps")


class ThroughputMeter:
    """Writes one row per interval from `start` to `close`, also for one in which nothing arrived.

    Before `start` bytes are only added up. `first_ns` is the length of the first interval, so that flows that
    start at different instants share one grid; the last interval ends at `close`. `estimate` is the agent's
    estimate of its throughput, averaged over an interval; `limiter_bps` is the rate at an interval's end.
    """

    def __init__(self, table: Table, interval_ns: int, first_ns: int | None = None) -> None:
        self._table = table
        self._interval_ns = interval_ns
        self._first_ns = interval_ns if first_ns is None else first_ns
        self._begin_ns = 0
        self._end_ns: int | None = None
        self._delivered_bytes = 0
        self._estimates_bps: list[float] = []
        self.limiter_bps: int | None = None
        self.total_bytes = 0

    def start(self, start_ns: HostNs) -> None:
        """Begin the first interval."""
        self._begin_ns, self._end_ns = start_ns, start_ns + self._first_ns

    def add(self, now: HostNs, delivered_bytes: int) -> None:
        """Payload arrived."""
        self._pass(now)
        self._delivered_bytes += delivered_bytes
        self.total_bytes += delivered_bytes

    def estimate(self, now: HostNs, throughput_bps: float) -> None:
        """The agent has a new estimate."""
        self._pass(now)
        self._estimates_bps.append(throughput_bps)

    def limit(self, now: HostNs, limiter_bps: int) -> None:
        """The limiter has a new rate."""
        self._pass(now)
        self.limiter_bps = limiter_bps

    def close(self, now: HostNs) -> None:
        """Write the intervals that have ended, and the part of one that has passed."""
        self._pass(now)
        if self._end_ns is not None and now > self._begin_ns:
            self._write(now)
        self._end_ns = None

    def _pass(self, now: HostNs) -> None:
        while self._end_ns is not None and now >= self._end_ns:
            self._write(self._end_ns)
            self._end_ns += self._interval_ns

    def _write(self, end_ns: int) -> None:
        estimates = self._estimates_bps
        mean_bps = sum(estimates) / len(estimates) if estimates else None
        self._table.row(end_ns, end_ns - self._begin_ns, self._delivered_bytes, mean_bps, self.limiter_bps)
        self._begin_ns = end_ns
        self._delivered_bytes = 0
        estimates.clear()
