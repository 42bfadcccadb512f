import time
from pathlib import Path

import pytest

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.machines.process import Console

LONG_S = 60.0


def console(directory: Path, said: str = "", complaints: str = "") -> Console:
    (directory / "h1.console").write_text(said)
    (directory / "h1.stderr").write_text(complaints)
    return Console("h1", directory)


def wait(of: Console, *, has_power: bool, for_s: float = LONG_S) -> None:
    of.wait_until_it_says("ready", time.monotonic() + for_s, lambda: has_power)


def test_what_it_said_before_it_lost_power_counts(tmp_path: Path) -> None:
    wait(console(tmp_path, "rogue-guest: ready\r\n"), has_power=False)


def test_a_machine_without_power_is_reported_with_its_last_words(tmp_path: Path) -> None:
    said = console(tmp_path, "Linux\n\nrogue-guest: failed: no disk\n", "qemu: bad option\n")
    with pytest.raises(VirtualTestbedError) as caught:
        wait(said, has_power=False)
    assert str(caught.value).splitlines() == [
        "machine h1 ended before it was up; the end of its console:",
        "  | Linux",
        "  | rogue-guest: failed: no disk",
        "  | qemu: bad option",
    ]


def test_a_machine_that_hangs_is_reported_when_its_time_is_up(tmp_path: Path) -> None:
    with pytest.raises(VirtualTestbedError, match="did not come up within 0 s"):
        wait(console(tmp_path, "Linux\n"), has_power=True, for_s=0)


def test_a_machine_that_said_nothing_at_all(tmp_path: Path) -> None:
    assert str(Console("h1", tmp_path).problem("is silent")).splitlines()[1:] == ["  | (nothing)"]


def test_only_the_last_lines_of_a_long_console_are_shown(tmp_path: Path) -> None:
    said = console(tmp_path, "".join(f"{number}\n" for number in range(1, 101)))
    shown = str(said.problem("ended")).splitlines()[1:]
    assert shown == [f"  | {number}" for number in range(81, 101)]
