"""Errors of the simulator: whose fault it is, and what was expected."""

import pickle
from collections.abc import Callable

import pytest
from helpers.networks import Star, connect

from rogue.simulator import FairRates, InvariantViolation, NicControl, QueuePairError, SimulationError
from rogue.simulator.reliability import check_parameters


def test_each_error_tells_whose_fault_it_is() -> None:
    assert issubclass(SimulationError, ValueError)
    assert issubclass(QueuePairError, RuntimeError)
    assert issubclass(InvariantViolation, AssertionError)


def test_the_engine_raises_these_very_classes() -> None:
    queue_pair = connect(Star(hosts=2).build(), "h0", "h1")
    try:
        queue_pair.set_rate(-1)
    except SimulationError as error:
        assert type(error) is SimulationError
        assert error.args == ("set_rate: expected rate_bps from 1 to 10^13, or 0 for no limit, got -1",)
    else:
        raise AssertionError("a negative rate was accepted")


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
