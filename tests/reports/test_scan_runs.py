"""Tests: find runs, and reports over several runs."""

import json
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.small_runs import cell, manifest

from rogue.reports.errors import ReportError
from rogue.reports.reading.load import Run
from rogue.reports.run_index import (
    combined_directory,
    make_combined_directory,
    results_directory,
    runs_text,
)


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
