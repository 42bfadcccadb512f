"""Test that code kept by a run needs permission to run."""

import os
from pathlib import Path

import pytest
from helpers.plugin_files import FIXED_TWICE

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.harness.errors import UsageError
from rogue.harness.plugins.loading import loaded_plugins
from rogue.harness.plugins.trust import NO_TRUST, Trust, changed_plugins, load_trusted, load_what_is_trusted
from rogue.workloads.manifest import PluginRecord

EVIL = FIXED_TWICE + "from pathlib import Path\nPath(__import__('os').environ['MARK']).touch()\n"


def record(text: str = EVIL) -> PluginRecord:
    """The checksum is wrong, as in a forged manifest."""
    return PluginRecord(file="my.py", sha256="0" * 64, text=text, adds=["control twice"])


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    return tmp_path / "mark"


def test_kept_plugin_needs_permission(mark: Path) -> None:
    refusal = r"plug-in my\.py \(control twice.*expected permission to run this code"
    with pytest.raises(UsageError, match=refusal):
        load_trusted([record()], NO_TRUST)
    assert load_what_is_trusted([record()], NO_TRUST) == [record()]
    assert not mark.exists()
    assert loaded_plugins() == ()


def test_trusted_header_does_not_permit_equal_python(mark: Path) -> None:
    as_header = record().model_copy(update={"file": "my.h"})
    file = mark.with_name("my.py")
    file.write_text(EVIL)
    with pytest.raises(UsageError, match="got a text that the run was not made with"):
        load_trusted([as_header], Trust((file,)))
    assert not mark.exists()


def test_permission_for_all_loads_the_plugin(mark: Path) -> None:
    assert [each.adds for each in load_trusted([record()], Trust((), True))] == [("control twice",)]
    assert mark.exists()


def test_equal_file_permits_the_plugin(tmp_path: Path, mark: Path) -> None:
    same, other = tmp_path / "same.py", tmp_path / "other.py"
    same.write_text(EVIL)
    other.write_text(FIXED_TWICE)
    with pytest.raises(UsageError, match="got a text that the run was not made with, expected the same"):
        load_trusted([record()], Trust((other,)))
    assert not mark.exists()
    load_trusted([record()], Trust((same,)))
    assert mark.exists()


def test_changed_plugin_files(tmp_path: Path) -> None:
    """One that is gone, or is no file to read, cannot be held against the run's text."""
    same, other, pipe = (tmp_path / name for name in ("same.py", "other.py", "pipe.py"))
    same.write_text(EVIL)
    other.write_text(EVIL + "# edited")
    os.mkfifo(pipe)
    files = [same, other, pipe, tmp_path / "gone.py"]
    assert changed_plugins([record().model_copy(update={"file": str(file)}) for file in files]) == [
        str(other)
    ]


def test_report_loads_named_plugins_and_returns_others(tmp_path: Path, mark: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(FIXED_TWICE)
    assert load_what_is_trusted([record()], Trust((other,))) == [record()]
    assert "twice" in CONGESTION_CONTROLS
    assert not mark.exists()


def test_two_versions_in_one_report_need_a_choice(tmp_path: Path) -> None:
    """Of the same version in two runs there is one."""
    newer = record("# newer\n" + FIXED_TWICE)
    older = record(FIXED_TWICE)
    with pytest.raises(
        UsageError, match=r"my\.py of a run: got another version of control twice, expected one"
    ):
        load_what_is_trusted([older, older, newer], Trust((), True))
    assert loaded_plugins() == (), "before any of it runs"
    (tmp_path / "my.py").write_text(newer.text)
    assert load_what_is_trusted([older, newer], Trust((tmp_path / "my.py",))) == [older]
    assert [each.source.text for each in loaded_plugins()] == [newer.text]
