"""The contract holds for every platform, and finds what breaks it."""

from collections.abc import Sequence
from itertools import count

import pytest

from rogue.harness.provisioning.switches.change import Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import Platform
from rogue.harness.provisioning.switches.platform_contract import platform_faults
from rogue.harness.provisioning.switches.readback import PortState, SwitchState
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables

COUNT = count()


class Right(Platform):
    """Says one line for each port."""

    name = "right"
    read = "show"

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        return [
            Line((), f"mark {port} {wanted}", f"mark {port}", f"no mark {port}") for port in wanted.interfaces
        ]

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        return line.startswith("mark ")


class Aborts(Right):
    abort = ("abort",)


class Refuses(Right):
    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        return "priority 3: got marks, expected none"


class Mumbles(Right):
    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        return "no" if wanted.pausing else None


class Raises(Right):
    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        raise KeyError("marks")


class SaysNothing(Right):
    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        return []


class Counts(Right):
    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        return [Line((), f"mark {next(COUNT)}", "mark", "no mark")]


class HasAnotherKey(Right):
    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        return [Line((), "mark 3", "ecn", "no mark")]


class BreaksLines(Right):
    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        return [Line((), "mark\n3", "mark\n3", "no mark")]


class HearsNoPauses(Right):
    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        return [Line((), f"mark {marks}", "mark", "no mark") for _, marks in wanted.marking]


class TellsNothingStands(Right):
    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        return SwitchState({interface: PortState({}) for interface in wanted.interfaces})


class HasTwoOfOneKey(Right):
    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        return [Line((), f"mark {port}", "mark", "no mark") for port in wanted.interfaces]


BROKEN = {
    Aborts: "abort without end, expected",
    Refuses: "it takes none of the settings that were tried: priority 3: got marks, expected none",
    Mumbles: "mistake() says 'no', expected `priority 3: got",
    Raises: "it raises KeyError: 'marks'",
    SaysNothing: "lines() are none for priority 3: marks from",
    Counts: "lines() differ from call to call",
    HasAnotherKey: "the line 'mark 3' does not begin with its key 'ecn'",
    BreaksLines: "'mark\\n3' is not one line",
    HearsNoPauses: "lines() are the same for priority 3: marks beyond 208000 bytes and for priority 3: marks",
    TellsNothingStands: "once all lines stand there, standing() tells `nothing`, expected `marks from 1",
    HasTwoOfOneKey: "once all lines stand there, it still wants: got `mark 1/1`, expected `mark 1/2`",
}


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platform_keeps_it(name: str) -> None:
    assert platform_faults(name) == []


def faults(platform: type[Platform]) -> list[str]:
    PLATFORMS[platform.name] = platform()
    try:
        return platform_faults(platform.name)
    finally:
        del PLATFORMS[platform.name]


def test_a_small_platform_keeps_it() -> None:
    assert faults(Right) == []


@pytest.mark.parametrize("platform", BROKEN, ids=lambda platform: platform.__name__)
def test_what_breaks_it_is_named(platform: type[Platform]) -> None:
    assert faults(platform)[0].startswith(BROKEN[platform])
