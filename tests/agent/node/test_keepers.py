"""When keepers are started and ended."""

import io
import subprocess
from dataclasses import dataclass, field, replace

import pytest

from rogue.agent.core.errors import SettingsError
from rogue.agent.node.messages import Prepare
from rogue.agent.node.turn_keeper import Keepers


@dataclass
class Process:
    """A keeper that ends when its input does, unless it hangs."""

    hangs: bool = False
    stdin: io.BytesIO = field(default_factory=io.BytesIO)
    stdout: io.BytesIO = field(default_factory=io.BytesIO)
    was_killed: bool = False

    def kill(self) -> None:
        self.was_killed = True

    def wait(self, timeout: float | None = None) -> int:
        if self.hangs and not self.was_killed:
            raise subprocess.TimeoutExpired("keeper", timeout or 0.0)
        return 0


class Started:
    """What was started, by the address."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.processes: list[tuple[str, Process]] = []
        self._hangs = hangs

    def start(self, request: Prepare) -> Process:
        self.processes.append((request.address, Process(self._hangs)))
        return self.processes[-1][1]

    def running(self) -> list[str]:
        return [address for address, process in self.processes if not process.stdin.closed]


def asking(role: str, address: str, turns: list[int]) -> Prepare:
    return Prepare(role, 1, "requester", address, "rogue", 100, turns=turns)


def test_a_card_has_one_keeper_from_the_first_of_its_flows_to_the_last() -> None:
    started = Started()
    keepers = Keepers(started.start)
    for role, address in (("a", "10.9.0.1"), ("b", "10.9.0.1"), ("c", "10.9.0.2")):
        keepers.join(asking(role, address, [1, 2]))
    assert started.running() == ["10.9.0.1", "10.9.0.2"]
    keepers.leave("a")
    keepers.leave("c")
    assert started.running() == ["10.9.0.1"]
    keepers.leave("b")
    keepers.leave("b")
    assert started.running() == []
    keepers.join(asking("a", "10.9.0.1", [1]))
    assert started.running() == ["10.9.0.1"], "of the next cell, which may have others"


def test_flows_with_limiters_of_their_own_need_none() -> None:
    started = Started()
    keepers = Keepers(started.start)
    keepers.join(asking("a", "10.9.0.1", []))
    keepers.leave("a")
    assert started.processes == []


@pytest.mark.parametrize("change", [{"turns": [1, 3]}, {"limiter": "dcb"}, {"limiter_burst_bytes": 9_000}])
def test_flows_of_a_card_agree_on_what_is_kept(change: dict[str, object]) -> None:
    started = Started()
    keepers = Keepers(started.start)
    first = asking("a", "10.9.0.1", [1, 2])
    keepers.join(first)
    with pytest.raises(SettingsError, match=r"turns: got .*expected those of the other flows at 10\.9\.0\.1"):
        keepers.join(replace(first, role="b", **change))  # type: ignore[arg-type]
    keepers.join(replace(first, role="c", priority=2))
    keepers.leave("a")
    keepers.leave("c")
    assert started.running() == [], "the one that was refused is not waited for"


def test_one_that_hangs_is_killed() -> None:
    started = Started(hangs=True)
    keepers = Keepers(started.start)
    keepers.join(asking("a", "10.9.0.1", [1]))
    keepers.leave("a")
    assert started.processes[0][1].was_killed
