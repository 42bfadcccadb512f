"""Compares the duration of the tests of each folder with its budget."""

from pathlib import Path

from helpers.budgets import BUDGETS_SECONDS, Spent

TESTS = Path(__file__).parent
NO_TESTS = {"data", "helpers"}


def test_a_folder_over_its_budget_is_named() -> None:
    spent = Spent()
    spent.note("tests/scripts/test_one.py::test_it[a::b]", 2.0)
    spent.note("tests/scripts/deeper/test_two.py::test_it", 1.5)
    spent.note("tests/workloads/test_three.py::test_it", 10_000)
    spent.note("tests/test_four.py::test_it", 0.25)
    assert list(spent.lines()) == [
        f"10000.0 s  tests/workloads  over its budget of {BUDGETS_SECONDS['tests/workloads']} s",
        "    3.5 s  tests/scripts",
        "    0.2 s  tests",
        "10003.8 s  in all",
    ]


def test_every_folder_has_a_budget() -> None:
    folders = {f"tests/{each.name}" for each in TESTS.iterdir() if any(each.rglob("test_*.py"))}
    assert folders - {f"tests/{name}" for name in NO_TESTS} == set(BUDGETS_SECONDS)
