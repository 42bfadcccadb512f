from helpers.networks import Star, connect

from simulator import InvariantViolation, QueuePairError, SimulationError


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


def test_what_was_expected_is_known_without_the_rest() -> None:
    assert SimulationError("x: expected g up to 1, got 2").expected == "g up to 1, got 2"
    assert SimulationError("nonsense").expected == "nonsense"
