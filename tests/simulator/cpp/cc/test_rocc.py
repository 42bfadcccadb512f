"""RoCC by itself: the reaction point in the NIC and the congestion point in the switch."""

import pytest

from rogue.simulator import SimulationError
from rogue.simulator._core import Controller, RoccPoint

GBPS = 10**9
LINE_BPS = 40 * GBPS
MICROSECOND_PS = 1_000_000


def reaction_point(**parameters: float) -> Controller:
    settings = {"processing_delay_ns": 0.0, **parameters}
    return Controller("rocc", line_rate_bps=LINE_BPS, parameters=settings)


def test_the_least_of_several_ports_wins() -> None:
    control = reaction_point()
    control.on_feedback(0, port=1, rate_bps=10 * GBPS)
    assert control.rate_bps == 10 * GBPS
    control.on_feedback(0, port=2, rate_bps=20 * GBPS)
    assert control.rate_bps == 10 * GBPS  # another port that asks for more
    control.on_feedback(0, port=2, rate_bps=5 * GBPS)
    assert control.rate_bps == 5 * GBPS
    control.on_feedback(0, port=2, rate_bps=8 * GBPS)
    assert control.rate_bps == 8 * GBPS  # the port itself may raise it
    control.on_feedback(0, port=1, rate_bps=8 * GBPS)
    assert control.metrics(0)["port"] == 2  # not less


def test_it_doubles_without_a_message_until_it_needs_no_limit() -> None:
    control = reaction_point()
    control.on_feedback(0, port=1, rate_bps=15 * GBPS)
    rates = []
    for nth in range(1, 4):
        assert control.deadline_ps == nth * 55 * MICROSECOND_PS
        control.on_timer(control.deadline_ps)
        rates.append(control.rate_bps)
    assert rates == [30 * GBPS, 60 * GBPS, LINE_BPS]
    assert control.deadline_ps is None
    assert control.metrics(0)["is_limited"] == 0
    control.on_feedback(10**9, port=7, rate_bps=35 * GBPS)  # the port is forgotten
    assert control.rate_bps == 35 * GBPS


def test_a_message_of_its_port_keeps_it_from_rising() -> None:
    control = reaction_point()
    control.on_feedback(0, port=1, rate_bps=15 * GBPS)
    control.on_feedback(40 * MICROSECOND_PS, port=1, rate_bps=15 * GBPS)
    assert control.deadline_ps == 95 * MICROSECOND_PS
    control.on_feedback(50 * MICROSECOND_PS, port=2, rate_bps=16 * GBPS)
    assert control.deadline_ps == 95 * MICROSECOND_PS  # not accepted


def test_messages_take_time_to_act() -> None:
    control = reaction_point(processing_delay_ns=15_000)
    control.on_feedback(0, port=1, rate_bps=10 * GBPS)
    control.on_feedback(5 * MICROSECOND_PS, port=1, rate_bps=9 * GBPS)
    assert control.rate_bps == LINE_BPS
    assert control.deadline_ps == 15 * MICROSECOND_PS
    control.on_timer(15 * MICROSECOND_PS)
    assert control.rate_bps == 10 * GBPS
    assert control.deadline_ps == 20 * MICROSECOND_PS
    control.on_timer(20 * MICROSECOND_PS)
    assert control.rate_bps == 9 * GBPS
    assert control.deadline_ps == 75 * MICROSECOND_PS


def test_proportional_and_integral() -> None:
    """60 KB are 100 units, the reference is 250: 4000 + 0.3 * 150 - 1.5 * 100 = 3895."""
    point = RoccPoint(line_rate_bps=LINE_BPS)
    assert point.update(60_000) == 38_950_000_000
    assert point.rate_units == pytest.approx(3895)
    assert not point.is_at_rest
    assert point.update(60_000) == 39_400_000_000  # no growth: 45 units more


def test_gains_fall_with_the_rate() -> None:
    """At 300 of 4000 units gains are divided by 8: 0.0375 and 0.1875."""
    point = RoccPoint(line_rate_bps=LINE_BPS, parameters={"rate_min_bps": 3e9})
    assert point.update(360_000) == 3 * GBPS  # 600 units wait
    point.update(150_000)  # 250 units, the reference; 350 less than before
    assert point.rate_units == pytest.approx(300 + 0.1875 * 350)
    before = point.rate_units
    point.update(60_000)  # 150 units below the reference and less than before; still below 500
    assert point.rate_units == pytest.approx(before + 0.0375 * 150 + 0.1875 * 150)


def test_fast_growth_halves() -> None:
    point = RoccPoint(line_rate_bps=LINE_BPS)
    assert point.update(300_000) == 20 * GBPS


def test_emergency_cuts_only_above_an_eighth() -> None:
    """At 100 and at 400 of 4000 units a long queue and fast growth are left to the controller."""
    point = RoccPoint(line_rate_bps=LINE_BPS, parameters={"rate_min_bps": 1e9, "alpha": 0.3})
    point.update(360_000)  # to 100 units
    point.update(240_000)  # gains 1/32: 100 - 0.3/32 * 150 + 1.5/32 * 200
    low = 100 - 0.3 / 32 * 150 + 1.5 / 32 * 200
    assert point.rate_units == pytest.approx(low)
    point.update(360_000)  # no cut to the least rate and no halving: growth of 200 units
    assert point.rate_units == pytest.approx(max(100, low - 0.3 / 32 * 350 - 1.5 / 32 * 200))
    high = RoccPoint(line_rate_bps=LINE_BPS, parameters={"rate_min_bps": 4e9})
    high.update(360_000)
    assert high.rate_units == 400
    high.update(360_000)
    assert high.rate_units == 400  # the controller asks for less, and the least rate holds it


@pytest.mark.parametrize(
    ("line_rate_bps", "period_us", "queue_bytes", "units"),
    [
        (10 * GBPS, 100, 75_000, 1000 - 0.375 * 125),
        (40 * GBPS, 40, 150_000, 4000 - 1.5 * 250),
        (100 * GBPS, 40, 300_000, 10_000 - 2.25 * 500),
        (25 * GBPS, 100, 75_000, 2500 - 0.375 * 125),
    ],
)
def test_values_by_line_rate(line_rate_bps: int, period_us: int, queue_bytes: int, units: float) -> None:
    """At the reference only growth counts."""
    point = RoccPoint(line_rate_bps=line_rate_bps)
    assert point.period_ps == period_us * 1_000_000
    point.update(queue_bytes)
    assert point.rate_units == pytest.approx(units)


def test_the_order_of_lengths() -> None:
    with pytest.raises(
        SimulationError,
        match="reference_bytes below middle_bytes below maximum_bytes, got 150000, 100000 and 360000",
    ):
        RoccPoint(line_rate_bps=LINE_BPS, parameters={"middle_bytes": 100_000})
    with pytest.raises(
        SimulationError, match=r"rocc: expected one of the parameters rate_unit_bps, .*, got gain"
    ):
        RoccPoint(line_rate_bps=LINE_BPS, parameters={"gain": 1})
