"""Errors by whose fault they are."""

import pickle

import pytest

from rogue.harness import errors
from rogue.harness.errors import SHOWN_MAX, ConfigError, ExitCode, HarnessError, Problem, UsageError
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


def test_mistakes_are_told_together_but_not_all() -> None:
    assert str(ConfigError([problem(1), problem(2)])).count("\n") == 1
    many = str(ConfigError([problem(number) for number in range(SHOWN_MAX + 3)]))
    assert many.endswith("... and 3 more mistakes")
    assert many.count("\n") == SHOWN_MAX


@pytest.mark.parametrize("kind", [ConfigError, UsageError])
def test_the_users_mistakes_exit_with_2(kind: type[HarnessError]) -> None:
    assert kind.exit_code is ExitCode.USAGE == 2


def test_every_error_has_an_exit_code_of_its_own_and_a_docstring() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, HarnessError)
    ]
    for kind in kinds:
        assert kind.__doc__
        assert kind is HarnessError or kind.exit_code not in (ExitCode.OK, ExitCode.BUG)


def test_a_mistake_is_said_in_a_few_lines_whatever_was_written() -> None:
    said = str(Problem("x.yaml:1", "k" * 5000, "9" * 5000, "a port", "correct it"))
    assert said.endswith("9..., expected a port; correct it.")
    assert len(said) < 700
