"""Small simulated networks, and comparisons of the two engines."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

import numpy

from rogue.agent.core.cc import Sample, Segments
from rogue.agent.core.clocks import HostNs
from rogue.simulator import IDEAL, Marking, NicProfile, PriorityFlowControl, QueuePair, Simulation
from rogue.simulator._core import Engine, Requester


def max_min_bps(capacity_bps: Mapping[Hashable, float], paths: Sequence[Sequence[Hashable]]) -> list[float]:
    """Return max-min fair rates: raise all rates together, and stop those that cross a full link.

    Source: Bertsekas and Gallager, "Data networks", 1992, section 6.5.2 (progressive filling).
    """
    free, rates = dict(capacity_bps), [0.0] * len(paths)
    growing = set(range(len(paths)))
    while growing:
        crossing = {link: sum(link in paths[flow] for flow in growing) for link in free}
        step = min(free[link] / count for link, count in crossing.items() if count)
        for link, count in crossing.items():
            free[link] -= step * count
        full = {link for link, count in crossing.items() if count and free[link] < 1e-9 * capacity_bps[link]}
        for flow in growing:
            rates[flow] += step
        growing = {flow for flow in growing if not full & set(paths[flow])}
    return rates


SEGMENTS = Segments(batch_bytes=65_536, floor_bytes=131_072)


def rtt_sample(rtt_ns: float, now_ns: int = 0) -> Sample:
    """A sample of one batch, with another in flight."""
    return Sample(rtt_ns, HostNs(now_ns), SEGMENTS.batch_bytes, SEGMENTS.batch_bytes)


GBPS = 10**9
MICROSECOND_PS = 1_000_000
MILLISECOND_NS = 1_000_000
SECOND_NS = 10**9


def reference_engine() -> type[Engine]:
    """Return the eager engine, which only tests build."""
    try:
        return cast(type[Engine], import_module("rogue.simulator._reference").Engine)
    except ImportError as error:
        message = "the reference engine (rogue.simulator._reference) is not built; `make test` builds it"
        raise ImportError(message) from error


class ReferenceSimulation(Simulation):
    """The same network on the eager engine."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        ReferenceSimulation._engine_type = reference_engine()
        super().__init__(*arguments, **named)


@dataclass(frozen=True)
class Star:
    """Hosts h0 ... around switch s0, all links alike."""

    hosts: int
    rate_bps: int = 10 * GBPS
    delay_ps: int = MICROSECOND_PS
    profile: NicProfile = IDEAL
    buffer_bytes: int | None = None
    alpha: float = 1.0
    loss_probability: float = 0.0
    flow_control: PriorityFlowControl | None = None
    marking: Marking | None = None
    features: dict[str, Any] = field(default_factory=dict)  # more arguments of add_switch

    def build(self, simulation_type: type[Simulation] = Simulation, seed: int = 1) -> Simulation:
        simulation = simulation_type(seed=seed)
        for i in range(self.hosts):
            simulation.add_host(f"h{i}", self.profile)
        simulation.add_switch(
            "s0",
            buffer_bytes=self.buffer_bytes,
            alpha=self.alpha,
            flow_control=self.flow_control,
            marking=self.marking,
            **self.features,
        )
        for i in range(self.hosts):
            simulation.add_link(
                f"h{i}",
                "s0",
                rate_bps=self.rate_bps,
                delay_ps=self.delay_ps,
                loss_probability=self.loss_probability,
            )
        return simulation


def direct(
    rate_bps: int = 10 * GBPS, profile: NicProfile = IDEAL, loss_probability: float = 0.0
) -> Simulation:
    """Two hosts, a and b, on one link of 1 us."""
    simulation = Simulation(seed=1)
    simulation.add_host("a", profile)
    simulation.add_host("b", profile)
    simulation.add_link(
        "a", "b", rate_bps=rate_bps, delay_ps=MICROSECOND_PS, loss_probability=loss_probability
    )
    return simulation


def connect(simulation: Simulation, a: str, b: str, **overrides: Any) -> QueuePair:
    """Connect with the parameters most tests want, and return a's end."""
    parameters: dict[str, Any] = {"mtu_bytes": 1024, "retry_count": 7, "timeout_exponent": 14} | overrides
    return simulation.connect(a, b, **parameters)[0]


@dataclass
class Host:
    """Host software that records its calls."""

    queue_pair: QueuePair
    polls: list[tuple[int, list[tuple[int, int, int, int, int | None]]]] = field(default_factory=list)
    events: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.queue_pair.attach(
            lambda now, completions: self.polls.append((now, completions)),
            lambda now, state: self.events.append((now, state)),
        )

    @property
    def completions(self) -> list[tuple[int, int, int, int, int | None]]:
        return [completion for _, completions in self.polls for completion in completions]

    @property
    def statuses(self) -> list[tuple[int, int]]:
        return [(wr_id, status) for wr_id, status, *_ in self.completions]


def counter(simulation: Simulation, name: str, port: str | None = None) -> int:
    """Sum the counters whose name ends with `name`."""
    return sum(
        value
        for _, counted_port, counted, value in simulation.counters()
        if counted.endswith(name) and port in (None, counted_port)
    )


FRAME = 4_000
US = 1_000_000
BASE_US = 12


class Window:
    """A sender with all its packets posted, whose acknowledgements a test provides."""

    def __init__(self, **parameters: float) -> None:
        values = {"header_bytes": 0, "window_packets": 10, **parameters}
        self._requester = Requester("uet", mtu_bytes=FRAME, parameters=values)
        self._requester.post(1_000 * FRAME)
        self._come = 0
        self._fill()

    def _fill(self) -> None:
        while self._requester.send(0) is not None:
            pass

    @property
    def bytes(self) -> int:
        return round(self._requester.metrics()["window_bytes"])

    @property
    def average_delay_ns(self) -> float:
        return self._requester.metrics()["average_delay_ns"]

    def acknowledged(
        self, at_us: float, delay_us: float, packets: int = 1, *, is_marked: bool = False, asked: bool = False
    ) -> int:
        """Acknowledge the next packets, the last of which had this queueing delay; return the window.

        `asked`: the acknowledgement answers a request for credit instead of that packet.
        """
        self._come += packets
        self._requester.on_acknowledgement(
            now_ps=round(at_us * US),
            expected=self._come,
            bitmap=(self._come + 1, 0, self._come - 1, self._come * FRAME),
            echoes_mark=is_marked,
            is_of_request=asked,
            echoed_ps=round((at_us - BASE_US - delay_us) * US),
        )
        self._fill()
        return self.bytes

    def trimmed(self, at_us: float) -> int:
        """Refuse the oldest packet; return the window."""
        self._requester.on_acknowledgement(
            now_ps=round(at_us * US),
            expected=self._come,
            bitmap=(0, 0, self._come, 0),
            is_negative=True,
            echoed_ps=round((at_us - BASE_US) * US),
        )
        return self.bytes

    def times_out(self, at_us: float) -> int:
        self._requester.on_deadline(round(at_us * US))
        return self.bytes


TABLES = {name for name in dir(Simulation) if name.endswith("_table")}
Builder = Callable[[type[Simulation]], Simulation]


class RunsAhead(Simulation):
    """Switches run ahead, as in large networks."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._engine.run_ahead_from(0)


class Recorded(RunsAhead):
    """Records all packets from the first connection on, which keeps switches in step."""

    def connect(self, *args: Any, **kwargs: Any) -> tuple[QueuePair, QueuePair]:
        if not self._connected:
            self.record_packets()
        return super().connect(*args, **kwargs)


class RecordedReference(Recorded, ReferenceSimulation):
    """The same on the eager engine."""


def assert_equal_runs(build: Builder, until_ns: int) -> Simulation:
    lazy, eager = build(Recorded), build(RecordedReference)
    ahead, plain = build(RunsAhead), build(Simulation)
    plain.run_until(until_ns)
    for at_ns in (until_ns // 3, until_ns):  # reading results in between changes nothing
        for simulation in (lazy, eager, ahead):
            simulation.run_until(at_ns)
            simulation.check_invariants()
        assert lazy.control_metrics() == eager.control_metrics() == ahead.control_metrics()
    assert plain.digest() == eager.digest()
    assert lazy.packets_missed == eager.packets_missed
    for other, tables in ((lazy, TABLES), (ahead, TABLES - {"packet_table"})):  # packets: see Recorded
        assert other.digest() == eager.digest()
        assert other.waits() == eager.waits()
        assert other.statistics()["packet_hops"] == eager.statistics()["packet_hops"]
        for name in sorted(tables):
            assert_equal_tables(name, getattr(other, name)(), getattr(eager, name)())
    return lazy


def assert_equal_tables(name: str, left: dict[str, Any], right: dict[str, Any]) -> None:
    assert left.keys() == right.keys()
    for column, values in left.items():
        numpy.testing.assert_array_equal(values, right[column], f"{name}: {column}", strict=True)
