"""Small simulated networks, and comparisons of the two engines."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

import numpy

from rogue.agent.core.cc import Sample, Segments
from rogue.agent.core.clocks import HostNs
from rogue.simulator import IDEAL, Marking, NicProfile, PriorityFlowControl, QueuePair, Simulation
from rogue.simulator._core import Engine


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


SWITCH = re.compile(r"(s|t|l|leaf|spine)\d*")


def network(
    links: Iterable[tuple[Any, ...]],
    simulation_type: type[Simulation] = Simulation,
    *,
    switch: Mapping[str, Any] | None = None,
    profile: NicProfile = IDEAL,
    settings: Mapping[str, Any] | None = None,
    **link: Any,
) -> Simulation:
    """Build the links (a, b) or (a, b, arguments of add_link), of 10 Gb/s and 1 us, and their nodes.

    Nodes such as ``s0``, ``t``, ``leaf1`` and ``spine2`` are switches with the arguments ``switch``.
    """
    simulation = simulation_type(**{"seed": 1, **(settings or {})})
    usual = {"rate_bps": 10 * GBPS, "delay_ps": MICROSECOND_PS, **link}
    known: set[str] = set()
    for a, b, *own in links:
        for name in (each for each in (a, b) if each not in known):
            if SWITCH.fullmatch(name):
                simulation.add_switch(name, **{"buffer_bytes": None, "alpha": 1.0, **(switch or {})})
            else:
                simulation.add_host(name, profile)
        known |= {a, b}
        simulation.add_link(a, b, **usual | (own[0] if own else {}))
    return simulation


def direct(profile: NicProfile = IDEAL, **link: Any) -> Simulation:
    """Two hosts, a and b, on one link of 1 us."""
    return network([("a", "b")], profile=profile, **link)


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
        names = ("buffer_bytes", "alpha", "flow_control", "marking")
        return network(
            [(f"h{i}", "s0") for i in range(self.hosts)],
            simulation_type,
            switch={name: getattr(self, name) for name in names} | self.features,
            profile=self.profile,
            settings={"seed": seed},
            rate_bps=self.rate_bps,
            delay_ps=self.delay_ps,
            loss_probability=self.loss_probability,
        )


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
