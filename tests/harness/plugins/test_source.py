"""Test plug-ins as files, and their trial in a child process."""

from importlib import metadata
from pathlib import Path

import pytest
from helpers.plugin_files import FIXED_TWICE, SWIFT, plugin

from rogue.harness.errors import ConfigError
from rogue.harness.plugins import contract, source
from rogue.harness.plugins.contract import Verdict, try_plugin
from rogue.harness.plugins.loading import loaded_plugins
from rogue.harness.plugins.source import (
    GROUP,
    SIZE_BYTES_MAX,
    each_once,
    installed_plugins,
    plugins_at,
    read_plugin,
)


def test_source_has_text_and_checksum() -> None:
    """The sum is what `sha256sum` says of the file."""
    source = read_plugin(str(SWIFT), "--plugin")
    assert source.text == SWIFT.read_text()
    assert len(source.sha256) == 64
    assert source.module == f"rogue_plugin_swift_{source.sha256[:12]}"
    assert plugin("a = 1\n").sha256.startswith("cb78bd8a17f7b7")


def test_line_ends_are_normalised(tmp_path: Path) -> None:
    """A manifest keeps no carriage return or byte-order mark; the text must be the same after it was kept."""
    (tmp_path / "dos.py").write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\r\n")
    assert read_plugin(f"{tmp_path}/dos.py", "").text == "a = 1\nb = 2\n"


def test_equal_texts_are_one_plugin() -> None:
    one, same, other = plugin("a = 1", "one.py"), plugin("a = 1", "same.py"), plugin("a = 2", "other.py")
    assert each_once([one, other, same]) == [one, other]


def test_equal_text_in_another_language_is_another_plugin() -> None:
    files = [plugin("a = 1", "one.py"), plugin("a = 1", "one.h")]
    assert each_once(files) == files


def bad_files(folder: Path) -> dict[str, str]:
    (folder / "latin.py").write_bytes(b"a = '\xe9'")
    (folder / "steering.py").write_text("a = '\x1b[2J'")
    (folder / "long.py").write_text("#" * (SIZE_BYTES_MAX + 1))
    return {
        "missing.py": "'No such file or directory' on opening",
        "": "which is no regular file",
        "latin.py": "which is no UTF-8 text",
        "steering.py": "which has characters that steer a terminal",
        "long.py": "which has more than 1000000 bytes",
        "nul\0.py": "embedded null",
    }


@pytest.mark.parametrize("end", [".cpp", ".cc", ".HPP", ".cxx"])
def test_cpp_control_must_be_a_header(end: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"a file ending in \{end.lower()}, expected .py, or .h for a control"
    ):
        read_plugin(f"mine{end}", "--plugin")


def test_unreadable_plugin_is_an_error(tmp_path: Path) -> None:
    for name, words in bad_files(tmp_path).items():
        with pytest.raises(ConfigError, match=words) as caught:
            read_plugin(f"{tmp_path}/{name}", "exp.yaml:3: plugins[0]")
        assert str(caught.value).startswith("exp.yaml:3: plugins[0]: got "), name
        assert "expected the file of a plug-in; name a Python file" in str(caught.value)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package, as pip leaves it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    facts = tmp_path / "my_controls-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-controls\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\nswift = my_swift\n")
    return tmp_path


def test_entry_point_module_is_read_and_not_run(package: Path) -> None:
    text = SWIFT.read_text()
    (package / "my_swift.py").write_text(text)
    (found,) = [each for each in installed_plugins() if each.text == text]
    assert found.is_installed
    assert found.file == str(package / "my_swift.py")
    assert plugins_at([SWIFT]) == [found], "the same text is one plug-in"


def test_entry_point_without_a_module_is_an_error(package: Path) -> None:
    with pytest.raises(
        ConfigError, match=f"my-controls, entry point {GROUP} swift: got my_swift, expected a"
    ):
        installed_plugins()


def test_no_packages_no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source.metadata, "entry_points", lambda group: metadata.EntryPoints())
    assert installed_plugins() == []


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


def test_valid_plugin_is_loaded_in_the_child_only() -> None:
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
def test_crash_or_exit_is_a_fault(how: str, words: str) -> None:
    assert try_plugin([plugin(CALLS.format(how=how))], ignore).faults == (words,)


def test_hanging_plugin_is_reported_and_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    monkeypatch.setattr(contract, "WAIT_S", 0.05)
    endless = plugin(CALLS.format(how="while True: pass"))
    (fault,) = try_plugin([endless], lambda: reported.append("still"), 0.25).faults
    assert fault == "it has not ended after 0.25 s, expected an end of each call"
    assert reported == ["still"]


def test_plugin_that_does_not_load_has_its_line() -> None:
    with pytest.raises(ConfigError, match=r"my\.py:5: got ZeroDivisionError: division by zero"):
        try_plugin([plugin(FIXED_TWICE + "1 / 0\n")], ignore)
