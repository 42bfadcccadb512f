"""What goes wrong in random networks."""

from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import strategies as st

from rogue.simulator import Simulation


@dataclass(frozen=True)
class Cut:
    """A cable that carries nothing for a while."""

    host: int
    start_ns: int
    duration_ns: int


@dataclass(frozen=True)
class Misrouting:
    """A switch sends what is for a host to another switch, or floods it."""

    switch: int
    host: int
    next_switch: int | None

    def apply(self, simulation: Simulation) -> None:
        if self.next_switch is None:
            simulation.flood(f"s{self.switch}", f"h{self.host}")
        else:
            simulation.forward(f"s{self.switch}", f"h{self.host}", f"s{self.next_switch}")


@dataclass(frozen=True)
class Storm:
    """A NIC that pauses its switch for nothing."""

    host: int
    start_ns: int
    duration_ns: int
    watchdog_ns: int | None

    def apply(self, simulation: Simulation) -> None:
        simulation.pause_storm(
            f"h{self.host}",
            start_ns=self.start_ns,
            duration_ns=self.duration_ns,
            watchdog_ns=self.watchdog_ns,
        )


@dataclass(frozen=True)
class SlowReceiver:
    """A NIC that takes in less than comes."""

    host: int
    start_ns: int
    duration_ns: int | None
    rate_bps: int
    xoff_bytes: int

    def apply(self, simulation: Simulation) -> None:
        simulation.receive_slowly(
            f"h{self.host}",
            rate_bps=self.rate_bps,
            start_ns=self.start_ns,
            duration_ns=self.duration_ns,
            buffer_bytes=2 * self.xoff_bytes,
            xoff_bytes=self.xoff_bytes,
            xon_bytes=self.xoff_bytes // 2,
        )


PauseFault: TypeAlias = Storm | SlowReceiver


def pause_faults(hosts: int) -> st.SearchStrategy[list[PauseFault]]:
    """One at least; both kinds may befall the same host."""
    host, start_ns = st.integers(0, hosts - 1), st.integers(0, 60_000)
    storms = st.builds(
        Storm, host, start_ns, st.integers(1, 200_000), st.none() | st.sampled_from((1, 20_000, 500_000))
    )
    slow_receivers = st.builds(
        SlowReceiver,
        host,
        start_ns,
        st.none() | st.integers(1, 200_000),
        st.sampled_from((10**6, 10**9, 7 * 10**9)),
        st.sampled_from((2, 6_000, 50_000)),
    )
    return st.lists(storms | slow_receivers, min_size=1, max_size=3)


def cuts(hosts: int) -> st.SearchStrategy[Cut]:
    times = st.integers(0, 60_000)
    return st.builds(Cut, host=st.integers(0, hosts - 1), start_ns=times, duration_ns=st.integers(1, 20_000))


def misroutings(switches: int, hosts: int) -> st.SearchStrategy[list[Misrouting]]:
    neighbours = [
        (i, j) for i in range(switches) for j in (i - 1, i + 1, None) if j is None or 0 <= j < switches
    ]
    each = st.builds(
        lambda ends, host: Misrouting(ends[0], host, ends[1]),
        st.sampled_from(neighbours),
        st.integers(0, hosts - 1),
    )
    return st.lists(each, max_size=2, unique_by=lambda fault: (fault.switch, fault.host))
