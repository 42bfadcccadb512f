"""Tests: exit codes, errors by whose fault they are, and signals that end a command."""

import pickle
import signal

import pytest

from rogue.harness import errors
from rogue.harness.cli import rogue
from rogue.harness.errors import (
    PROBLEMS_SHOWN_MAX,
    ConfigError,
    ExitCode,
    HarnessError,
    Problem,
    StoppedError,
    TerminatedError,
    UsageError,
    termination_as_interrupt,
)
from rogue.workloads.printable import REPLACEMENT


def problem(number: int) -> Problem:
    return Problem("a.yaml:3", f"key{number}", "'x'", "a number", "correct the value")


def test_a_problem_is_one_sentence() -> None:
    assert str(problem(1)) == "a.yaml:3: key1: got 'x', expected a number; correct the value."
    assert str(Problem("a.yaml", "", "a directory", "a file", "name one")) == (
        "a.yaml: got a directory, expected a file; name one."
    )


def test_no_name_in_a_problem_begins_a_line() -> None:
    forged = Problem("a.yaml", "x: got nothing.\n1 nodes can measure\n", "\x1b[2J", "y", "z")
    assert str(forged).isprintable()


@pytest.mark.parametrize("kind", [HarnessError, UsageError, errors.DamagedRunError, errors.StorageError])
def test_no_text_of_others_begins_a_line_of_an_error(kind: type[HarnessError]) -> None:
    raised = kind("run: got 'x\nrogue: all is well'.", "  a line of ours")
    assert str(raised).splitlines() == [f"run: got 'x{REPLACEMENT}rogue: all is well'.", "  a line of ours"]
    assert raised.lines == pickle.loads(pickle.dumps(raised)).lines, "Dask carries it"


def test_mistakes_are_listed_up_to_a_limit() -> None:
    assert str(ConfigError([problem(1), problem(2)])).count("\n") == 1
    many = str(ConfigError([problem(number) for number in range(PROBLEMS_SHOWN_MAX + 3)]))
    assert many.endswith("... and 3 more mistakes")
    assert many.count("\n") == PROBLEMS_SHOWN_MAX


def test_every_error_has_an_exit_code_of_its_own_and_a_docstring() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, HarnessError)
    ]
    for kind in kinds:
        assert kind.__doc__
        assert kind is HarnessError or kind.exit_code not in (ExitCode.OK, ExitCode.BUG)


def test_message_about_a_long_value_is_short() -> None:
    said = str(Problem("x.yaml:1", "k" * 5000, "9" * 5000, "a port", "correct it"))
    assert said.endswith("9..., expected a port; correct it.")
    assert len(said) < 700


def test_numbers_are_fixed() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "OK": 0, "CELLS_FAILED": 1, "USAGE": 2, "REPORT_FAILED": 3, "NOTHING_TO_RUN": 4, "DAMAGED": 5,
        "STORAGE": 6, "TESTBED": 7, "MEMORY": 8, "REGRESSION": 9, "BUG": 70, "INTERRUPTED": 130,
        "TERMINATED": 143,
    }  # fmt: skip


def test_help_explains_each() -> None:
    text = rogue.__doc__ or ""
    for code in ExitCode:
        assert f"{code.value} " in text, f"`rogue --help` does not explain {code.name}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_systems_wish_arrives_as_an_interrupt(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt) as caught, termination_as_interrupt():
        signal.raise_signal(number)
    assert isinstance(caught.value, TerminatedError)


def test_signal_handlers_are_restored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with termination_as_interrupt():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_exit_code_depends_on_the_signal() -> None:
    assert StoppedError("stopped", KeyboardInterrupt()).exit_code is ExitCode.INTERRUPTED
    assert StoppedError("stopped", TerminatedError()).exit_code is ExitCode.TERMINATED
