import math
from collections.abc import Callable

import pytest
from helpers.networks import Star, connect

from rogue.simulator import Simulation, SimulationError

BAD: dict[str, tuple[Callable[[Simulation], object], str]] = {
    "rate zero": (lambda s: s.add_link("h0", "s1", rate_bps=0, delay_ps=0), "rate_bps .* from 1"),
    "rate float": (lambda s: s.add_link("h0", "s1", rate_bps=1e9, delay_ps=0), "got 1000000000.0"),  # type: ignore[arg-type]
    "delay negative": (lambda s: s.add_link("h0", "s1", rate_bps=1, delay_ps=-1), "delay_ps .* got -1"),
    "loss one": (
        lambda s: s.add_link("h0", "s1", rate_bps=1, delay_ps=0, loss_probability=1.0),
        "loss_probability from 0 to less than 1, got 1.0",
    ),
    "loss nan": (
        lambda s: s.add_link("h0", "s1", rate_bps=1, delay_ps=0, loss_probability=math.nan),
        "loss_probability .* got nan",
    ),
    "buffer zero": (
        lambda s: s.add_switch("s2", buffer_bytes=0, alpha=1.0),
        "add_switch s2: .* buffer_bytes",
    ),
    "alpha zero": (lambda s: s.add_switch("s2", buffer_bytes=None, alpha=0.0), "alpha .* above 0, got 0.0"),
    "alpha infinite": (lambda s: s.add_switch("s2", buffer_bytes=None, alpha=math.inf), "alpha .* finite"),
    "interval zero": (lambda s: s.sample_queues(0), "sample_queues: expected interval_ns"),
    "interval true": (lambda s: s.sample_throughput(True), "sample_throughput: .* got True"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_parameter_gets_a_sentence(case: str) -> None:
    simulation = Star(hosts=2).build()
    simulation.add_switch("s1", buffer_bytes=None, alpha=1.0)
    act, expected = BAD[case]
    with pytest.raises(SimulationError, match=expected):
        act(simulation)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True])
def test_a_bad_seed_gets_a_sentence(seed: object) -> None:
    with pytest.raises(SimulationError, match="expected seed as an integer from 0 to 18446744073709551615"):
        Simulation(seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mtu_bytes", 0),
        ("mtu_bytes", 10_000),
        ("retry_count", 8),
        ("timeout_exponent", 32),
        ("ack_every_packets", 0),
        ("path_seed", -1),
    ],
)
def test_a_bad_connection_gets_a_sentence(name: str, value: int) -> None:
    simulation = Star(hosts=2).build()
    with pytest.raises(
        SimulationError, match=f"connect h0-h1: expected {name} as an integer from .*, got {value}"
    ):
        connect(simulation, "h0", "h1", **{name: value})


def test_a_service_is_known() -> None:
    with pytest.raises(SimulationError, match="expected service as one of rc, uc, got 'ud'"):
        Star(hosts=2).build().connect(
            "h0", "h1", mtu_bytes=1, retry_count=0, timeout_exponent=0, service="ud"
        )  # type: ignore[arg-type]


def test_a_timeout_below_the_round_trip_would_always_fire() -> None:
    simulation = Star(hosts=2, delay_ps=5_000_000).build()  # round trip 20 us; 4.096 us * 2^2 = 16.4 us
    with pytest.raises(
        SimulationError, match="above the delay of the round trip, 20000000 ps, got timeout_exponent 2"
    ):
        connect(simulation, "h0", "h1", timeout_exponent=2)
    connect(simulation, "h0", "h1", timeout_exponent=3)


@pytest.mark.parametrize("length_bytes", [-1, 2**40 + 1])
def test_a_verb_has_a_sensible_length(length_bytes: int) -> None:
    queue_pair = connect(Star(hosts=2).build(), "h0", "h1")
    with pytest.raises(SimulationError, match=f"post_write: .* got {length_bytes}"):
        queue_pair.post_write(0, length_bytes, True)


def test_a_wr_id_is_not_negative() -> None:
    queue_pair = connect(Star(hosts=2).build(), "h0", "h1")
    with pytest.raises(SimulationError, match="wr_id from 0"):
        queue_pair.post_write(-1, 0, True)


@pytest.mark.parametrize("rate_bps", [-1, 10**14])
def test_a_limiter_takes_sensible_rates(rate_bps: int) -> None:
    queue_pair = connect(Star(hosts=2).build(), "h0", "h1")
    with pytest.raises(SimulationError, match="set_rate: expected rate_bps"):
        queue_pair.set_rate(rate_bps)
