"""DCQCN by itself: cuts and increases worked by hand."""

import pytest

from rogue.simulator import SimulationError
from rogue.simulator._core import Controller

GBPS = 10**9
LINE_BPS = 40 * GBPS
MICROSECOND_PS = 1_000_000
TIMER_PS = 55 * MICROSECOND_PS


def controller(name: str = "dcqcn", **parameters: float) -> Controller:
    return Controller(name, line_rate_bps=LINE_BPS, parameters=parameters)


def alpha(control: Controller, now_ps: int) -> float:
    return control.metrics(now_ps)["alpha"]


def target_bps(control: Controller) -> float:
    return control.metrics(0)["target_bps"]


def increased(control: Controller, times: int) -> list[float]:
    """Return the rate in Gb/s after each of `times` increases of the timer."""
    rates = []
    for _ in range(times):
        assert control.deadline_ps is not None
        control.on_timer(control.deadline_ps)
        rates.append(control.rate_bps / GBPS)
    return rates


def test_a_cut_and_its_recovery() -> None:
    """Half of 40 Gb/s; five times half-way back; then the target would pass the line rate."""
    control = controller()
    control.on_cnp(0)
    assert control.rate_bps == 20 * GBPS
    assert control.metrics(0) == {"target_bps": LINE_BPS, "alpha": 1.0}
    assert control.deadline_ps == TIMER_PS
    assert increased(control, 6) == [30, 35, 37.5, 38.75, 39.375, 39.6875]
    assert target_bps(control) == LINE_BPS


def test_alpha_decays_once_per_timer() -> None:
    """10 ms are 181 whole timers of 55 us."""
    control = controller()
    control.on_cnp(0)
    assert alpha(control, TIMER_PS - 1) == 1
    assert alpha(control, TIMER_PS) == pytest.approx(255 / 256)
    assert alpha(control, 10_000 * MICROSECOND_PS) == pytest.approx((255 / 256) ** 181)
    assert alpha(control, 10_000 * MICROSECOND_PS) == pytest.approx(0.492, abs=0.001)


def test_a_cnp_adds_its_share_to_alpha_after_the_cut() -> None:
    control = controller(initial_alpha=0.5)
    control.on_cnp(0)
    assert control.rate_bps == LINE_BPS * 0.75
    assert alpha(control, 0) == pytest.approx(0.5 * 255 / 256 + 1 / 256)


def test_additive_increase_after_the_recoveries() -> None:
    """After two cuts the target is 20 Gb/s: the sixth increase moves it by 40 Mb/s."""
    control = controller()
    control.on_cnp(0)
    control.on_cnp(50 * MICROSECOND_PS)
    assert (control.rate_bps, target_bps(control)) == (10 * GBPS, 20 * GBPS)
    assert increased(control, 5)[-1] == 20 - 10 / 32
    [sixth] = increased(control, 1)
    assert target_bps(control) == pytest.approx(20.04 * GBPS)
    assert sixth == pytest.approx((20.04 + 20 - 10 / 32) / 2)


def test_hyper_increase_when_timer_and_bytes_have_both_recovered() -> None:
    """The sixth stage of both is the first of hyper increase: 400 Mb/s, then 800 with the seventh of both."""
    control = controller(byte_counter_bytes=1_000_000)
    control.on_cnp(0)
    control.on_cnp(50 * MICROSECOND_PS)
    increased(control, 6)  # one additive
    for _ in range(5):
        control.on_sent(0, 1_000_000)  # additive: the timer has passed its fifth stage
    assert target_bps(control) == pytest.approx(20.24 * GBPS)
    control.on_sent(0, 1_000_000)
    assert target_bps(control) == pytest.approx(20.64 * GBPS)
    increased(control, 1)  # 7 and 6: i is still 1
    assert target_bps(control) == pytest.approx(21.04 * GBPS)
    control.on_sent(0, 1_000_000)
    assert target_bps(control) == pytest.approx(21.84 * GBPS)


def test_the_byte_counter_counts_on() -> None:
    control = controller(byte_counter_bytes=1000)
    control.on_cnp(0)
    control.on_sent(0, 999)
    assert control.rate_bps == 20 * GBPS
    control.on_sent(0, 2)
    assert control.rate_bps == 30 * GBPS
    control.on_sent(0, 998)
    assert control.rate_bps == 30 * GBPS
    control.on_sent(0, 1)
    assert control.rate_bps == 35 * GBPS


def test_packets_below_the_next_increase_may_be_reported_together() -> None:
    """Nothing counts at the line rate; then 1000 bytes do, and twice as soon in hyper increase."""
    control = controller(byte_counter_bytes=1000, halves_in_hyper=1, recoveries=1)
    assert control.untold_bytes_max > 10**18
    control.on_cnp(0)
    control.on_cnp(50 * MICROSECOND_PS)
    assert control.untold_bytes_max == 1000
    control.on_sent(0, 999)
    assert control.untold_bytes_max == 1
    control.on_sent(0, 2)
    assert control.untold_bytes_max == 999
    control.on_sent(0, 999)
    increased(control, 2)
    assert control.untold_bytes_max == 500


def test_a_cut_starts_all_counting_again() -> None:
    control = controller(byte_counter_bytes=1000)
    control.on_cnp(0)
    control.on_sent(0, 999)
    increased(control, 4)
    control.on_cnp(300 * MICROSECOND_PS)
    assert control.deadline_ps == 300 * MICROSECOND_PS + TIMER_PS
    before = control.rate_bps
    control.on_sent(0, 999)
    assert control.rate_bps == before
    target = target_bps(control)
    increased(control, 5)
    assert target_bps(control) == target


@pytest.mark.parametrize(("clamps", "worked_bps"), [(1, 10 * GBPS), (0, 40 * GBPS)])
def test_a_clamped_target_falls_with_every_cut(clamps: int, worked_bps: int) -> None:
    """Three CNPs in a row: 40, 20, 10, 5 Gb/s; then one increase."""
    control = controller(clamps_target=clamps, initial_alpha=1)
    for number in range(3):
        control.on_cnp(number * 50 * MICROSECOND_PS)
    assert control.rate_bps == 5 * GBPS
    assert target_bps(control) == worked_bps
    [rate] = increased(control, 1)
    assert rate * GBPS == (5 * GBPS + worked_bps) / 2
    control.on_cnp(200 * MICROSECOND_PS)  # there has been an increase: both lower it
    assert target_bps(control) == rate * GBPS


def test_no_cut_goes_below_the_least_rate() -> None:
    control = controller(rate_min_bps=3 * GBPS)
    for number in range(10):
        control.on_cnp(number)
    assert control.rate_bps == 3 * GBPS


def test_as_the_simulator_of_its_authors_has_it() -> None:
    """Alpha from 0.5, taken in before the cut; four recoveries; a target 10 times the rate falls by 8."""
    control = controller("dcqcn-ns3-rdma")
    control.on_cnp(0)
    first_alpha = 0.5 * 255 / 256 + 1 / 256
    assert control.rate_bps == pytest.approx(LINE_BPS * (1 - first_alpha / 2), abs=1)
    assert control.deadline_ps == 60 * MICROSECOND_PS
    recovered = increased(control, 4)
    assert target_bps(control) == LINE_BPS
    assert recovered[-1] == pytest.approx(40 - 40 * first_alpha / 2 / 16)


def test_a_far_target_comes_nearer_first() -> None:
    control = controller("dcqcn-ns3-rdma", clamps_target=0, initial_alpha=1)
    for number in range(4):
        control.on_cnp(number)
    assert control.rate_bps == 2.5 * GBPS
    [rate] = increased(control, 1)
    assert target_bps(control) == 5 * GBPS
    assert rate == 3.75


def test_hyper_increase_may_run_twice_as_fast() -> None:
    control = controller("dcqcn-ns3-rdma", byte_counter_bytes=1000, rate_min_bps=1)
    for number in range(9):
        control.on_cnp(number)
    increased(control, 5)
    began_ps = control.deadline_ps
    control.on_sent(0, 5000)
    for _ in range(4):
        control.on_sent(0, 0)
    assert began_ps is not None
    control.on_timer(began_ps)
    assert control.deadline_ps == began_ps + 30 * MICROSECOND_PS
    before = control.rate_bps
    control.on_sent(0, 500)
    assert control.rate_bps > before


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"g": 0.0}, "dcqcn: expected g from 1e-09 to 1, got 0"),
        ({"g": 2.0}, "dcqcn: expected g from 1e-09 to 1, got 2"),
        ({"g": float("nan")}, "dcqcn: expected g from 1e-09 to 1, got nan"),
        ({"rate_timer_ns": 0.0}, "dcqcn: expected rate_timer_ns from 1 to"),
        ({"gain": 1.0}, "dcqcn: expected one of the parameters g, initial_alpha, .*, got gain"),
    ],
)
def test_invalid_arguments_are_refused(wrong: dict[str, float], sentence: str) -> None:
    with pytest.raises(SimulationError, match=sentence):
        controller(**wrong)
