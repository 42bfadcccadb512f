"""Counts what arrived, interval by interval, for the table `throughput`."""

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.spool import Table

COLUMNS = ("t_ns", "interval_ns", "delivered_bytes", "cwnd_over_rtt_bps", "limiter_bps")


class ThroughputMeter:
    """Writes one row per interval from `start` to `close`, also for one in which nothing arrived.

    Before `start` bytes are only added up. `estimate` is the agent's own idea of its throughput, averaged
    over an interval; `limiter_bps` what stands at an interval's end.
    """

    def __init__(self, table: Table, interval_ns: int) -> None:
        self._table = table
        self._interval_ns = interval_ns
        self._end_ns: int | None = None
        self._delivered_bytes = 0
        self._estimates_bps: list[float] = []
        self.limiter_bps: int | None = None
        self.total_bytes = 0

    def start(self, start_ns: HostNs) -> None:
        """The first interval begins here."""
        self._end_ns = start_ns + self._interval_ns

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
        """Write the intervals that have ended; a part of one is left out."""
        self._pass(now)
        self._end_ns = None

    def _pass(self, now: HostNs) -> None:
        while self._end_ns is not None and now >= self._end_ns:
            estimates = self._estimates_bps
            mean_bps = sum(estimates) / len(estimates) if estimates else None
            self._table.row(
                self._end_ns, self._interval_ns, self._delivered_bytes, mean_bps, self.limiter_bps
            )
            self._end_ns += self._interval_ns
            self._delivered_bytes = 0
            estimates.clear()
