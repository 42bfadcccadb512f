"""What all tests share."""

import signal

import pytest
from helpers import budgets, needs
from hypothesis import settings

# Hypothesis's deadline is a wall clock, and would fail at random on a busy machine. Its examples are new ones
# each time: a failure says how to see it again.
settings.register_profile("no-clock", deadline=None, print_blob=True)
settings.load_profile("no-clock")

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
