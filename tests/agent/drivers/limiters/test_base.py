"""Tests: the interface of a rate limiter, and a lasting child process for iproute2."""

import io
import os
import select
from collections.abc import Callable

import pytest
from helpers.verbs_ends import KnownLimiter

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.limiters.base import COLUMNS, BatchProgram, RateLimiter
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Table


def test_each_write_is_a_row_with_its_actuation_time() -> None:
    file = io.StringIO()
    limiter = KnownLimiter(Table(file, COLUMNS))
    assert limiter.set_rate(1_500_000, HostNs(7)) == 2_000_000
    assert file.getvalue().splitlines()[1] == "7,1500000,2000000,5"
    assert (limiter.writes, limiter.actuations_ns) == (1, [5])


def test_a_limiter_says_what_it_applies() -> None:
    class Half(RateLimiter):
        kind = "half"
        step_bps = 0

    with pytest.raises(TypeError, match="abstract"):
        Half(Table(io.StringIO(), COLUMNS))  # type: ignore[abstract]


def test_commands_are_carried_out_in_order_by_one_process(
    poller: Poller, told: Callable[[], list[str]]
) -> None:
    lines: list[str] = []
    program = BatchProgram(["tc"], poller, lambda _now, line: lines.append(line))
    program.tell("one", "show two")
    program.tell("three")
    while not lines:
        poller.turn(None)
    program.close()
    assert told() == ["one", "show two", "three"]
    assert lines == ["class htb 1:13 root prio 0 rate 1Mbit"]


def test_a_command_that_fails_is_raised_in_its_words(poller: Poller, told: Callable[[], list[str]]) -> None:
    program = BatchProgram(["tc"], poller, lambda _now, _line: None)
    program.tell("bad")
    with pytest.raises(LimiterError, match="tc: Error: invalid"):
        while True:
            poller.turn(None)
    program.close()
    assert told() == ["bad"]


def test_a_program_that_is_missing_is_named(poller: Poller) -> None:
    with pytest.raises(LimiterError, match="/nowhere/tc does not start: No such file"):
        BatchProgram(["/nowhere/tc"], poller, lambda _now, _line: None)


def test_a_program_that_has_ended_is_named(poller: Poller) -> None:
    program = BatchProgram(["true"], poller, lambda _now, _line: None)
    with pytest.raises(LimiterError, match="true: it has ended"):
        while True:
            poller.turn(None)
    program._process.wait()
    with pytest.raises(LimiterError, match="true has ended"):
        program.tell("one")
    program.close()


def test_a_program_holds_what_it_is_given_until_its_last_command(
    poller: Poller, told: Callable[[], list[str]]
) -> None:
    """So whoever is at the other end learns that we are gone when nothing of ours is on its way any more."""
    there, here = os.pipe()
    program = BatchProgram(["tc"], poller, lambda _now, _line: None, [here])
    os.close(here)
    program.tell("one")
    assert select.select([there], (), (), 0)[0] == [], "it is open"
    program.close("two")
    assert os.read(there, 1) == b"", "it is closed"
    os.close(there)
    assert told() == ["one", "two"]
