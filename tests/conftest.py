"""Fixtures of all tests."""

import signal

import pytest
from helpers import budgets, needs
from hypothesis import settings

from rogue.start_up import prepare

prepare()  # as in every process of ours: the garbage collector runs rarely, and OpenBLAS has one thread

# Hypothesis's deadline is a wall clock, and would fail at random on a busy machine. `make test` tries the
# same examples each time, and `make test-long` new ones: a failure says how to see it again.
settings.register_profile("same-examples", deadline=None, derandomize=True)
settings.register_profile("new-examples", deadline=None, print_blob=True)
settings.load_profile("same-examples")

# What a shell starts in the background ignores Ctrl-C, and so do its children; tests of Ctrl-C need it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            needs.check(name)


SPENT = budgets.Spent()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--budgets", action="store_true", help="print what the tests of each folder took")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    SPENT.note(report.nodeid, report.duration)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--budgets"):
        terminalreporter.section("what each folder took")
        for line in SPENT.lines():
            terminalreporter.write_line(line)
