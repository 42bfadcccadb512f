"""Small networks for tests of the simulator."""

from dataclasses import dataclass, field
from typing import Any

from rogue.simulator import IDEAL, Marking, NicProfile, PriorityFlowControl, QueuePair, Simulation
from rogue.simulator._core import Engine

GBPS = 10**9
MICROSECOND_PS = 1_000_000
MILLISECOND_NS = 1_000_000
SECOND_NS = 10**9


def reference_engine() -> type[Engine]:
    """Return the eager engine, which only tests build."""
    try:
        from rogue.simulator import _reference
    except ImportError as error:
        message = "the reference engine (rogue.simulator._reference) is not built; `make test` builds it"
        raise ImportError(message) from error
    return _reference.Engine


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
    """Host software that only writes down what it is told."""

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
    """Sum the counters whose name ends so."""
    return sum(
        value
        for _, counted_port, counted, value in simulation.counters()
        if counted.endswith(name) and port in (None, counted_port)
    )
