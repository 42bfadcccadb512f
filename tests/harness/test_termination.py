import signal

import pytest

from rogue.harness.errors import ExitCode, StoppedError, TerminatedError, termination_as_interrupt


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_systems_wish_arrives_as_an_interrupt(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt) as caught, termination_as_interrupt():
        signal.raise_signal(number)
    assert isinstance(caught.value, TerminatedError)


def test_outside_signals_mean_what_they_meant_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with termination_as_interrupt():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_exit_code_tells_who_asked() -> None:
    assert StoppedError("stopped", KeyboardInterrupt()).exit_code is ExitCode.INTERRUPTED
    assert StoppedError("stopped", TerminatedError()).exit_code is ExitCode.TERMINATED
