"""Tests: parameters, framing, NIC profiles and errors."""

import math
import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest
from helpers.networks import Star, connect, counter, direct

from rogue.simulator import ROCEV2, FairRates, NicControl, Simulation, SimulationError
from rogue.simulator.reliability import check_parameters

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
def test_an_invalid_parameter_is_refused(case: str) -> None:
    simulation = Star(hosts=2).build()
    simulation.add_switch("s1", buffer_bytes=None, alpha=1.0)
    act, expected = BAD[case]
    with pytest.raises(SimulationError, match=expected):
        act(simulation)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True])
def test_an_invalid_seed_is_refused(seed: object) -> None:
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
def test_an_invalid_connection_is_refused(name: str, value: int) -> None:
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


@pytest.mark.parametrize("rate_bps", [-1, 10**14])
def test_a_limiter_takes_sensible_rates(rate_bps: int) -> None:
    queue_pair = connect(Star(hosts=2).build(), "h0", "h1")
    with pytest.raises(SimulationError, match="set_rate: expected rate_bps"):
        queue_pair.set_rate(rate_bps)


@pytest.mark.parametrize(
    ("length_bytes", "packets", "frame_bytes"),
    [
        (0, 1, 78),
        (1, 1, 79),
        (1024, 1, 1102),
        (1025, 2, 1102 + 63),
        (65536, 64, 65536 + 64 * 62 + 16),
    ],
)
def test_the_engine_puts_these_frames_on_the_link(length_bytes: int, packets: int, frame_bytes: int) -> None:
    simulation = direct()
    connect(simulation, "a", "b").post_write(1, length_bytes, True)
    simulation.run_until(1_000_000)
    assert counter(simulation, "tx_bytes", "a->b") == frame_bytes
    assert counter(simulation, "tx_bytes", "b->a") == 66
    assert simulation.statistics()["packet_hops"] == packets + 1


def test_every_nth_packet_of_a_verb_is_acknowledged_besides_the_last() -> None:
    simulation = direct()
    queue_pair = connect(simulation, "a", "b", ack_every_packets=3)
    queue_pair.post_write(1, 7 * 1024, True)  # packets 3, 6 and 7
    queue_pair.post_write(2, 2 * 1024, True)  # packet 2: the count starts again with each verb
    simulation.run_until(1_000_000)
    assert counter(simulation, "tx_bytes", "b->a") == 4 * 66


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data_overhead_bytes": -1}, "framing.data_overhead_bytes as an integer from 0 to 65535, got -1"),
        ({"ack_frame_bytes": 65_536}, "framing.ack_frame_bytes as an integer from 0 to 65535, got 65536"),
        ({"data_overhead_bytes": 56_300}, "framing with at most 56319 bytes of headers .* got 56328"),
    ],
)
def test_frames_fit_into_sixteen_bits(changes: dict[str, int], words: str) -> None:
    with pytest.raises(SimulationError, match=f"Simulation: expected {words}"):
        Simulation(seed=1, framing=replace(ROCEV2, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("check", "expected", "got"),
    [
        (lambda: NicControl("dcqcn", {"g": 2}).check(10**10), "g from 1e-09 to 1", "2"),
        (
            lambda: NicControl("timely", {"rtt_low_ns": 9e5, "rtt_high_ns": 8e5}).check(10**10),
            "rtt_low_ns up to rtt_high_ns, 800000", "900000",
        ),
        (
            lambda: NicControl("hpcc", {"additive_increase_bps": 1, "expected_flows": 1}).check(10**10),
            "additive_increase_bps or expected_flows", "both",
        ),
        (
            lambda: FairRates({"middle_bytes": 1_200}).check(10**10),
            "reference_bytes below middle_bytes below maximum_bytes", "75000, 1200 and 210000",
        ),
        (
            lambda: check_parameters("irn", {"rto_low_ns": 3e5, "rto_high_ns": 2e5}),
            "rto_low_ns not above rto_high_ns", "300000 and 200000",
        ),
    ],
)  # fmt: skip
def test_what_was_expected_of_parameters_is_a_field(
    check: Callable[[], object], expected: str, got: str
) -> None:
    with pytest.raises(SimulationError) as caught:
        check()
    assert (caught.value.expected, caught.value.got) == (expected, got)
    assert str(caught.value).endswith(f": expected {expected}, got {got}")


def test_other_errors_expect_nothing_of_parameters() -> None:
    error = SimulationError("x: expected g up to 1, got 2")
    assert (str(error), error.expected, error.got) == ("x: expected g up to 1, got 2", None, None)
    assert pickle.loads(pickle.dumps(SimulationError("x", "g", "2"))).got == "2"
