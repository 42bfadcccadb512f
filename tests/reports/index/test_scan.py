"""Tests: find runs and tags below a results directory."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rogue.reports.errors import ReportError
from rogue.reports.index.run_files import TAGS_MAX, read_tags, write_tags


def test_tags_are_kept_by_run_and_replaced(tmp_path: Path) -> None:
    write_tags(tmp_path, "one", ["submitted", "figure-3", "submitted"])
    write_tags(tmp_path, "two", ["draft"])
    assert read_tags(tmp_path) == {"one": ("submitted", "figure-3"), "two": ("draft",)}
    write_tags(tmp_path, "one", [])
    assert read_tags(tmp_path) == {"two": ("draft",)}


@pytest.mark.parametrize("tag", ["", "Über", "a b", "-x", "x" * 33, "a\n"])
def test_what_is_no_tag_is_a_sentence_and_changes_nothing(tmp_path: Path, tag: str) -> None:
    with pytest.raises(ReportError, match="expected small letters, digits"):
        write_tags(tmp_path, "one", [tag])
    with pytest.raises(ReportError, match="expected at most 16"):
        write_tags(tmp_path, "one", [f"t{number}" for number in range(TAGS_MAX + 1)])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "[", "[]", '{"one": 7}', '{"one": ["<b>", 3]}', "[" * 100_000])
def test_a_file_of_others_costs_the_tags_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "tags.json").write_text(text)
    assert not any(read_tags(tmp_path).values())


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(json.dumps({"one": ["submitted"]}))
    (tmp_path / "tags.json").symlink_to(tmp_path / "elsewhere")
    assert read_tags(tmp_path) == {}


@pytest.mark.parametrize("text", ["", '{"one": ["draft"]', "[]"])
def test_tags_that_cannot_be_read_are_not_written_over(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tags.json"
    file.write_text(text)
    with pytest.raises(ReportError, match="correct or remove it"):
        write_tags(tmp_path, "two", ["submitted"])
    assert file.read_text() == text


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_a_sentence_and_stays(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A pipe that nobody writes to would be waited for, and a device read for ever."""
    path = tmp_path / "tags.json"
    make(path)
    before = path.lstat()
    assert read_tags(tmp_path) == {}
    with pytest.raises(ReportError, match="correct or remove it"):
        write_tags(tmp_path, "one", ["submitted"])
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
