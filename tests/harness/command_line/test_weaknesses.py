"""What stands on the command line of `rogue weaknesses` reaches the command."""

from pathlib import Path

import pytest

from rogue.harness.command_line.search import weaknesses
from rogue.harness.commands.weaknesses import WeaknessesOptions
from rogue.harness.errors import ExitCode


def test_each_option_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[WeaknessesOptions] = []
    monkeypatch.setattr(
        "rogue.harness.commands.weaknesses.run_weaknesses",
        lambda options: asked.append(options) or ExitCode.OK,
    )
    assert (
        weaknesses(["a.yml"], "mine", "kernel", Path("out"), ["a=1"], 3, [Path("mine.py")], True)
        is ExitCode.OK
    )
    (options,) = asked
    assert (options.finds, options.transport, options.testbed) == (("a.yml",), "mine", "kernel")
    assert (options.place, options.jobs, options.plugins) == (Path("out"), 3, (Path("mine.py"),))
    assert options.trusts_inventory and options.settings == ("a=1",)
