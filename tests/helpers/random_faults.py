"""What goes wrong in random networks."""

from dataclasses import dataclass

from hypothesis import strategies as st

from simulator import Simulation


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
    return st.lists(each, max_size=2)
