import os
import select
from collections.abc import Callable

import pytest

from rogue.agent.drivers.limiters.base import BatchProgram, LimiterError
from rogue.agent.drivers.poller import Poller


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
