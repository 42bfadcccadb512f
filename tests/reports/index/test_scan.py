"""Tests: find runs, and reports over several runs."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.small_runs import cell, manifest

from rogue.reports.errors import ReportError
from rogue.reports.index.run_files import (
    TAGS_MAX,
    combined_directory,
    make_combined_directory,
    read_tags,
    results_directory,
    runs_text,
    write_tags,
)
from rogue.reports.reading.load import Run


def test_tags_are_kept_by_run_and_replaced(tmp_path: Path) -> None:
    write_tags(tmp_path, "one", ["submitted", "figure-3", "submitted"])
    write_tags(tmp_path, "two", ["draft"])
    assert read_tags(tmp_path) == {"one": ("submitted", "figure-3"), "two": ("draft",)}
    write_tags(tmp_path, "one", [])
    assert read_tags(tmp_path) == {"two": ("draft",)}


@pytest.mark.parametrize("tag", ["", "Über", "a b", "-x", "x" * 33, "a\n"])
def test_invalid_tag_is_an_error(tmp_path: Path, tag: str) -> None:
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
def test_unreadable_tags_are_not_overwritten(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tags.json"
    file.write_text(text)
    with pytest.raises(ReportError, match="correct or remove it"):
        write_tags(tmp_path, "two", ["submitted"])
    assert file.read_text() == text


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_special_file_of_tags_is_an_error(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """Opening a pipe without a writer would block, and reading a device would never end."""
    path = tmp_path / "tags.json"
    make(path)
    before = path.lstat()
    assert read_tags(tmp_path) == {}
    with pytest.raises(ReportError, match="correct or remove it"):
        write_tags(tmp_path, "one", ["submitted"])
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)


def made(results: Path, name: str, run_id: str, created_utc: str) -> Run:
    directory = results / name / run_id
    (directory / "cells").mkdir(parents=True)
    experiment = {"name": name, "title": name.title()}
    write_manifest(
        directory, manifest([cell()], run_id=run_id, created_utc=created_utc, experiment=experiment)
    )
    return Run(directory)


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    return [
        made(tmp_path, "incast", "20261120T101500Z-000001", "2026-11-20T10:15:00Z"),
        made(tmp_path, "shuffle", "20261121T101500Z-000002", "2026-11-21T10:15:00Z"),
    ]


def test_name_of_a_combined_directory(tmp_path: Path, runs: list[Run]) -> None:
    directory = combined_directory(runs)
    assert directory.parent == tmp_path / "reports"
    assert directory.name.startswith("20261121T101500Z-")
    assert combined_directory(runs[::-1]) == directory
    other = made(tmp_path, "shuffle", "20261121T101500Z-000003", "2026-11-21T10:15:00Z")
    assert combined_directory([runs[0], other]) != directory


def test_no_time_leads_out_of_the_results(tmp_path: Path) -> None:
    hostile = made(tmp_path, "incast", "20261120T101500Z-000001", "../../2026")
    assert combined_directory([hostile]).parent == tmp_path / "reports"


def test_combined_directory_of_runs_elsewhere(tmp_path: Path, runs: list[Run]) -> None:
    moved = runs[0].directory.rename(tmp_path / "copy")
    assert results_directory(moved, "incast") is None
    assert combined_directory([Run(moved)]).parent == tmp_path / "reports"


def test_runs_file_lists_the_runs(runs: list[Run]) -> None:
    told = json.loads(runs_text(runs))
    assert told["schema"] == 1
    assert [(run["run_id"], run["title"]) for run in told["runs"]] == [
        ("20261120T101500Z-000001", "Incast"), ("20261121T101500Z-000002", "Shuffle"),
    ]  # fmt: skip


def test_a_place_that_cannot_be_made(tmp_path: Path, runs: list[Run]) -> None:
    (tmp_path / "reports").write_text("in the way")
    with pytest.raises(ReportError, match="name another place with --out"):
        make_combined_directory(runs)
