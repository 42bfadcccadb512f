"""Tests: `rogue check-plugin` tries a plug-in in a child process, so that a crash or a hang is a sentence."""

import pytest
from helpers.plugin_files import FIXED_TWICE, plugin

from rogue.harness.errors import ConfigError
from rogue.harness.plugins import contract
from rogue.harness.plugins.contract import Verdict, try_plugin
from rogue.harness.plugins.loading import loaded_plugins

CALLS = """\
import os, signal
from dataclasses import dataclass
from rogue.agent.core.cc.fixed import Fixed, FixedParameters
from rogue.agent.core.plugins import register_control

class Crashing(Fixed):
    def on_sample(self, sample):
        {how}

@dataclass(frozen=True, slots=True)
class Parameters(FixedParameters):
    "window_packets: the window."
    def build(self, link, segments):
        return Crashing(self)

register_control("crashing", Parameters)
"""


def ignore() -> None:
    pass


def test_a_plugin_that_keeps_the_contract_is_loaded_in_the_child_only() -> None:
    before = loaded_plugins()
    assert try_plugin([plugin(FIXED_TWICE)], ignore) == Verdict(("control twice",), ())
    assert loaded_plugins() == before


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "it ended the process that tried it, by signal 11"),
        ("os._exit(3)", "it ended the process that tried it, with exit code 3"),
    ],
)
def test_a_crash_or_an_exit_is_a_fault(how: str, words: str) -> None:
    assert try_plugin([plugin(CALLS.format(how=how))], ignore).faults == (words,)


def test_a_call_that_never_ends_is_reported_and_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    monkeypatch.setattr(contract, "WAIT_S", 0.05)
    endless = plugin(CALLS.format(how="while True: pass"))
    (fault,) = try_plugin([endless], lambda: reported.append("still"), 0.25).faults
    assert fault == "it has not ended after 0.25 s, expected an end of each call"
    assert reported == ["still"]


def test_a_plugin_that_does_not_load_names_its_line() -> None:
    with pytest.raises(ConfigError, match=r"my\.py:5: got ZeroDivisionError: division by zero"):
        try_plugin([plugin(FIXED_TWICE + "1 / 0\n")], ignore)


def test_a_plugin_may_conflict_with_an_installed_one() -> None:
    with pytest.raises(ConfigError, match="second control twice"):
        try_plugin([plugin(FIXED_TWICE), plugin(FIXED_TWICE + "\n", "other.py")], ignore)
