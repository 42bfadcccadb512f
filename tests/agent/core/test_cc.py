"""Congestion controls: worked examples of Vegas, and the contract of the registry."""

import math
import re
from dataclasses import fields

import pytest
from helpers.networks import SEGMENTS, rtt_sample
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.cc.base import CongestionControl
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.cc.vegas import Vegas, VegasParameters
from rogue.agent.core.limiter import LinkFacts

LINK = LinkFacts(line_rate_bps=10**10, mtu_bytes=1024)
BASE_NS = 50_000.0


def vegas(cwnd_packets: float, *, slow_start: bool, **parameters: float) -> Vegas:
    control = Vegas(VegasParameters(slow_start=slow_start, **parameters), LINK)  # type: ignore[arg-type]
    control.cwnd_packets = cwnd_packets
    control.base_rtt_ns = BASE_NS
    return control


@pytest.mark.parametrize(
    ("rtt_us", "expected_packets"),
    [
        (55, 21),  # diff = 20 * 5/55 = 1.82 < alpha
        (58, 20),  # 20 * 8/58 = 2.76: between alpha and beta
        (63, 19),  # 20 * 13/63 = 4.13 > beta
        (50, 21),
        (40, 21),  # below the floor: taken as the base RTT
    ],
)
def test_window_worked_examples(rtt_us: float, expected_packets: float) -> None:
    control = vegas(20, slow_start=False)
    control.on_sample(rtt_sample(rtt_us * 1000))
    assert control.cwnd_packets == expected_packets


def test_metrics_worked_example() -> None:
    """20 packets at 58 us keep 20 * 8/58 = 2.76 of them in queues."""
    control = vegas(20, slow_start=False)
    assert (control.metrics()["diff_packets"], control.metrics()["is_slow_start"]) == (0, 0)
    control.on_sample(rtt_sample(58_000))
    assert control.metrics()["diff_packets"] == pytest.approx(2.7586, abs=1e-4)
    assert vegas(20, slow_start=True).metrics()["is_slow_start"] == 1


def test_slow_start_worked_examples() -> None:
    """RTT 52 us: diff .77 <= gamma, the window doubles. 55 us: 1.82, exit with 20 * 50/55 + 1 = 19.18."""
    doubles = vegas(20, slow_start=True)
    doubles.on_sample(rtt_sample(52_000))
    assert (doubles.cwnd_packets, doubles.is_slow_start) == (40, True)
    leaves = vegas(20, slow_start=True)
    leaves.on_sample(rtt_sample(55_000))
    assert leaves.cwnd_packets == pytest.approx(19.18, abs=0.005)
    assert not leaves.is_slow_start
    leaves.on_sample(rtt_sample(50_000))
    assert leaves.cwnd_packets == pytest.approx(20.18, abs=0.005), "it does not return"


def test_target_rate_worked_examples() -> None:
    """One window per base RTT, in wire bits: 21 packets 3.716 Gb/s, a new connection's 10 packets 1.7696."""
    assert vegas(21, slow_start=False).target_rate_bps == pytest.approx(3.71616e9)
    assert VegasParameters().build(LINK, SEGMENTS).target_rate_bps == pytest.approx(1.7696e9)


def test_base_rtt_is_the_smallest_sample_but_not_below_the_floor() -> None:
    control = VegasParameters().build(LINK, SEGMENTS)
    assert control.base_rtt_ns == math.inf
    for rtt_us, base_us in ((440, 440), (120, 120), (300, 120), (49, 50), (2, 50)):
        control.on_sample(rtt_sample(rtt_us * 1000))
        assert control.base_rtt_ns == base_us * 1000


def test_base_rtt_floor_is_a_parameter() -> None:
    control = VegasParameters(base_rtt_floor_ns=10_000).build(LINK, SEGMENTS)
    control.on_sample(rtt_sample(12_000))
    assert control.base_rtt_ns == 12_000
    assert control.target_rate_bps == pytest.approx(control.cwnd_packets * 8848 / 12e-6)


@pytest.mark.parametrize(
    ("slow_start", "cwnd_packets", "expected_packets"),
    [(True, 110, 113.02), (False, 110, 113.02), (False, 200, 200)],  # the cap does not shrink a window
)
def test_growth_stops_at_twice_the_bandwidth_delay_product(
    slow_start: bool, cwnd_packets: float, expected_packets: float
) -> None:
    """10 Gb/s * 50 us = 56.5 packets of 1106 bytes; the cap is 113.02."""
    control = vegas(cwnd_packets, slow_start=slow_start)
    for _ in range(10):
        control.on_sample(rtt_sample(50_000))
    assert control.cwnd_packets == pytest.approx(expected_packets, abs=0.005)


def test_window_has_a_minimum() -> None:
    control = vegas(2.5, slow_start=False, beta_packets=0.1, alpha_packets=0.05)
    control.on_sample(rtt_sample(90_000))
    assert control.cwnd_packets == 2


def test_loss_halves_down_to_the_minimum() -> None:
    control = vegas(20, slow_start=True)
    control.on_loss()
    assert (control.cwnd_packets, control.is_slow_start) == (10, False)
    for _ in range(5):
        control.on_loss()
    assert control.cwnd_packets == 2


def test_timeout_restarts_and_keeps_the_base_rtt() -> None:
    control = vegas(40, slow_start=True)
    control.on_sample(rtt_sample(55_000))
    control.on_timeout()
    assert (control.cwnd_packets, control.is_slow_start, control.base_rtt_ns) == (10, True, BASE_NS)
    without = vegas(40, slow_start=False)
    without.on_timeout()
    assert not without.is_slow_start


@pytest.mark.parametrize("senders", [2, 4, 8])
def test_equilibrium_lies_between_alpha_and_beta(senders: int) -> None:
    """N windows of C * B0 / N rest where B0 c/(c - alpha) <= rtt <= B0 c/(c - beta), and move outside."""
    c = 10e9 * 50e-6 / (senders * 8 * 1106)
    low_ns, high_ns = (BASE_NS * c / (c - queued) for queued in (2, 4))
    for rtt_ns, change in ((low_ns - 100, 1), (low_ns + 100, 0), (high_ns - 100, 0), (high_ns + 100, -1)):
        control = vegas(c, slow_start=False)
        control.on_sample(rtt_sample(rtt_ns))
        assert control.cwnd_packets == pytest.approx(c + change)


def test_fixed_keeps_its_window_and_sets_no_rate() -> None:
    control = FixedParameters(window_packets=7).build(LinkFacts(10**10, 1024), SEGMENTS)
    control.on_sample(rtt_sample(10_000_000))
    control.on_loss()
    control.on_timeout()
    assert control.cwnd_packets == 7
    assert control.target_rate_bps is None
    assert control.metrics() == {"cwnd_packets": 7}


NAMES = sorted(CONGESTION_CONTROLS)
OPERATIONS = st.one_of(st.floats(1_000, 10_000_000), st.sampled_from(["loss", "timeout"]))


def build(name: str, line_rate_bps: int) -> CongestionControl:
    return (
        CONGESTION_CONTROLS[name].for_line_rate(line_rate_bps).build(LinkFacts(line_rate_bps, 1024), SEGMENTS)
    )


def apply(control: CongestionControl, operation: float | str) -> None:
    if operation == "loss":
        control.on_loss()
    elif operation == "timeout":
        control.on_timeout()
    else:
        control.on_sample(rtt_sample(float(operation)))


@pytest.mark.parametrize("name", NAMES)
@given(
    operations=st.lists(OPERATIONS, max_size=200), line_rate_bps=st.sampled_from([10**10, 4 * 10**10, 10**11])
)
def test_window_and_rate_stay_usable(name: str, operations: list[float | str], line_rate_bps: int) -> None:
    control = build(name, line_rate_bps)
    keys = control.metrics().keys()
    for operation in operations:
        apply(control, operation)
        assert 0 < control.cwnd_packets <= 1_000_000
        target_bps = control.target_rate_bps
        assert target_bps is None or target_bps > 0
        metrics = control.metrics()
        assert metrics["cwnd_packets"] == control.cwnd_packets
        assert metrics.keys() == keys
        assert all(isinstance(value, float | int) for value in metrics.values())
    assert all(key.startswith("is_") or key.endswith(("_ns", "_bps", "_packets")) for key in keys)


@pytest.mark.parametrize("name", NAMES)
@given(operations=st.lists(OPERATIONS, max_size=50))
def test_same_inputs_same_outputs(name: str, operations: list[float | str]) -> None:
    one, other = build(name, 10**10), build(name, 10**10)
    for operation in operations:
        apply(one, operation)
        apply(other, operation)
        assert one.metrics() == other.metrics()
        assert one.target_rate_bps == other.target_rate_bps


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_explained(name: str) -> None:
    parameters = CONGESTION_CONTROLS[name]
    for each in fields(parameters):
        assert re.search(rf"\b{each.name}\b[^:\n]*:", parameters.__doc__ or ""), each.name
