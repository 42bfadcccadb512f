"""What a plug-in does to the process that tries it is a sentence, and ours goes on."""

from pathlib import Path

import pytest
from helpers.plugin_files import FIXED_TWICE, plugin

from rogue.harness.errors import ConfigError
from rogue.harness.plugins.loading import loaded_plugins
from rogue.harness.plugins.trial import Verdict, try_plugin

CRASHES = """\
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


def test_what_keeps_the_contract_is_not_loaded_here() -> None:
    before = loaded_plugins()
    assert try_plugin(plugin(FIXED_TWICE), []) == Verdict(("control twice",), ())
    assert loaded_plugins() == before


def test_files_where_a_person_is_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "multiprocessing.py").write_text("raise SystemExit('a file of a stranger')\n")
    monkeypatch.chdir(tmp_path)
    assert try_plugin(plugin(FIXED_TWICE), []).faults == ()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "it ended the process that tried it, by SIGSEGV"),
        ("os._exit(3)", "it ended the process that tried it, by an exit with code 3"),
    ],
)
def test_what_ends_its_process_is_told(how: str, words: str) -> None:
    assert try_plugin(plugin(CRASHES.format(how=how)), []).faults == (words,)


def test_what_never_ends_is_ended() -> None:
    endless = plugin(CRASHES.format(how="while True: pass"))
    (fault,) = try_plugin(endless, [], limit_s=0.25).faults
    assert fault == "it has not ended after 0.25 s, expected an end of each call"


def test_what_does_not_load_is_told_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"my\.py:5: got ZeroDivisionError: division by zero"):
        try_plugin(plugin(FIXED_TWICE + "1 / 0\n"), [])


def test_what_is_beside_it_is_there_first() -> None:
    with pytest.raises(ConfigError, match="second control twice"):
        try_plugin(plugin(FIXED_TWICE + "\n", "other.py"), [plugin(FIXED_TWICE)])
