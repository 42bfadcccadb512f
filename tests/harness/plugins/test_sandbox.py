"""Tests: try a plug-in in a child process, so that a crash or a hang ends only that process."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.plugin_files import FIXED_TWICE, plugin

from rogue.harness.errors import ConfigError
from rogue.harness.plugins import sandbox
from rogue.harness.plugins.loading import loaded_plugins, unload_plugins
from rogue.harness.plugins.sandbox import Verdict, ends_in_child, forked_call, load_tried, try_plugin
from rogue.harness.plugins.source import PluginSource
from rogue.workloads.printable import REPLACEMENT


def test_what_the_copy_says_is_heard_and_ends_with_its_work() -> None:
    with forked_call(lambda pipe: pipe.send("heard")) as pipe:
        assert pipe.recv() == "heard"
        with pytest.raises(EOFError):
            pipe.recv()


def test_a_work_that_ends_goes_on_also_with_an_error() -> None:
    assert ends_in_child(lambda heard: [heard() for _ in range(3)], 60)
    assert ends_in_child(lambda _: 1 // 0, 60)


def test_a_work_that_never_ends_does_not() -> None:
    def endless(heard: Callable[[], None]) -> None:
        heard()
        while True:
            pass

    assert not ends_in_child(endless, 0.1)


def test_nothing_of_the_copy_comes_back() -> None:
    kept: list[int] = []
    assert ends_in_child(lambda _: kept.append(1), 60)
    assert not kept


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
WRITES_INTO_ITS_PIPE = "import os, signal, sys; os.write(int(sys.argv[2]), {text})"
CLOSED = "closing what it would say so through"
LONG = "a word that is longer than any"


def test_what_keeps_the_contract_is_not_loaded_here() -> None:
    before = loaded_plugins()
    assert try_plugin(plugin(FIXED_TWICE), []) == Verdict(("control twice",), ())
    assert loaded_plugins() == before


def test_files_where_a_person_is_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pydantic.py").write_text("raise SystemExit('a file of a stranger')\n")
    monkeypatch.chdir(tmp_path)
    assert try_plugin(plugin(FIXED_TWICE), []).faults == ()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "it ended the process that tried it, by SIGSEGV"),
        ("os._exit(3)", "it ended the process that tried it, by an exit with code 3"),
        ("os.kill(os.getpid(), 35)", "it ended the process that tried it, by signal 35"),
        ("os.closerange(3, 65536); signal.pause()", f"it ended the process that tried it, by {CLOSED}"),
        (
            "os.fork() and os._exit(3); signal.pause()",
            "it ended the process that tried it, by an exit with code 3",
        ),
        (
            WRITES_INTO_ITS_PIPE.format(text="""b'{"adds": ["forged"], "faults": []}\\n'"""),
            "it wrote into the pipe of the process that tried it",
        ),
        (
            WRITES_INTO_ITS_PIPE.format(text="b'?\\n'"),
            "it wrote into the pipe of the process that tried it",
        ),
        (
            WRITES_INTO_ITS_PIPE.format(text="b'?'") + "; signal.pause()",
            "it has not ended after 2 s, expected an end of each call",
        ),
        (
            WRITES_INTO_ITS_PIPE.format(text="b'?' * (1 << 21)"),
            f"it ended the process that tried it, by {LONG}",
        ),
    ],
)
def test_what_ends_its_process_is_told(how: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "END_LIMIT_S", 0.05)
    limit_s = 2 if "after 2 s" in words else 60
    assert try_plugin(plugin(CRASHES.format(how=how)), [], limit_s).faults == (words,)


def test_it_has_no_descriptor_of_ours_but_its_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever it writes reaches no helper of this process, whose traceback would stand beside our words."""
    open_ones = "[each for each in range(3, 256) if os.path.exists(f'/proc/self/fd/{each}')]"
    shows = f"import os, sys; print({open_ones}, sys.argv[2])"
    assert try_plugin(plugin(f"{FIXED_TWICE}{shows}\n"), []).faults == ()
    said = capfd.readouterr()
    pipe = said.out.split()[-1]
    assert (said.out, said.err) == (f"[{pipe}] {pipe}\n", "")


def test_what_never_ends_is_told_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = plugin(CRASHES.format(how="while True: pass"))
    told: list[str] = []
    monkeypatch.setattr(sandbox, "PATIENCE_S", 0.05)
    (fault,) = try_plugin(endless, [], 0.25, lambda: told.append("still")).faults
    assert fault == "it has not ended after 0.25 s, expected an end of each call"
    assert told == ["still"], "once, while it is waited for"


def test_a_name_that_is_no_utf_8_is_a_name() -> None:
    name = os.fsdecode(b"p\xff.py")
    assert try_plugin(plugin(FIXED_TWICE, name), []).adds == ("control twice",)
    with pytest.raises(ConfigError, match=f"p{REPLACEMENT}.py:1: got ZeroDivisionError"):
        try_plugin(plugin("1 / 0", name), [])
    assert [each.adds for each in load_tried([plugin(FIXED_TWICE, name)])] == [("control twice",)]


def test_what_does_not_load_is_told_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"my\.py:5: got ZeroDivisionError: division by zero"):
        try_plugin(plugin(FIXED_TWICE + "1 / 0\n"), [])


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "by SIGSEGV"),
        ("__import__('os')._exit(3)", "by an exit with code 3"),
        ("import os, signal; os.closerange(3, 65536); signal.pause()", f"by {CLOSED}"),
    ],
)
def test_what_ends_a_process_when_it_is_loaded_does_not_end_this_one(
    how: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "END_LIMIT_S", 0.05)
    with pytest.raises(ConfigError, match=rf"^my\.py: got a plug-in that ends the process .*, {words},"):
        load_tried([plugin(FIXED_TWICE, "other.py"), plugin(how)])
    assert loaded_plugins() == ()


def test_what_says_that_others_are_loaded_is_told() -> None:
    says = WRITES_INTO_ITS_PIPE.format(text="b'{}\\n'") + "\nsignal.pause()"
    with pytest.raises(ConfigError, match=r"^my\.py: got a plug-in that writes into the pipe of the process"):
        load_tried([plugin(says)])


def test_what_never_loads_is_ended() -> None:
    with pytest.raises(ConfigError, match=r"^my\.py: got a plug-in that has not loaded after 0\.25 s"):
        load_tried([plugin("while True: pass")], limit_s=0.25)


def test_what_loads_is_loaded_here_and_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    noted = plugin(
        FIXED_TWICE + "import os\nwith open(os.environ['MARK'], 'a') as file: print(1, file=file)\n"
    )
    assert [each.adds for each in load_tried([noted])] == [("control twice",)]
    assert (tmp_path / "mark").read_text() == "1\n" * 2
    unload_plugins()
    load_tried([noted])
    assert (tmp_path / "mark").read_text() == "1\n" * 3


def test_what_does_not_load_is_told_by_whoever_loads_it_here() -> None:
    with pytest.raises(ConfigError, match=r"my\.py:1: got ZeroDivisionError") as caught:
        load_tried([plugin("1 / 0")])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_what_is_installed_waits_for_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_child", None)
    assert load_tried([PluginSource("its.py", FIXED_TWICE, is_installed=True)])


def test_what_is_beside_it_is_there_first() -> None:
    with pytest.raises(ConfigError, match="second control twice"):
        try_plugin(plugin(FIXED_TWICE + "\n", "other.py"), [plugin(FIXED_TWICE)])
