"""Tests: the list of runs, also of runs whose files are damaged or hostile."""

import json
import unicodedata
from pathlib import Path

import pytest
from helpers.small_runs import cell, manifest

from rogue.reports import run_index
from rogue.reports.run_index import Entry, State, find_entries, shown


def make(results: Path, name: str, number: int, **changes: object) -> Path:
    """A run as `rogue run` leaves it; `number` is its day and id."""
    run = results / name / f"202611{number:02}T101500Z-{number:06x}"
    (run / "cells").mkdir(parents=True)
    told = {"run_id": run.name, "created_utc": f"2026-11-{number:02}T10:15:00Z"}
    experiment = {"experiment": {"name": name, "title": f"The {name}"}}
    (run / "manifest.json").write_text(json.dumps({**manifest([cell()], **told, **experiment), **changes}))
    return run


def entries(results: Path, locked: tuple[Path, ...] = ()) -> list[Entry]:
    return find_entries(results, lambda run: run in locked)


def test_newest_first(tmp_path: Path) -> None:
    make(tmp_path, "incast", 20)
    make(tmp_path, "shuffle", 22)
    make(tmp_path, "incast", 21)
    assert [(entry.created, entry.experiment) for entry in entries(tmp_path)] == [
        ("2026-11-22 10:15:00", "shuffle"),
        ("2026-11-21 10:15:00", "incast"),
        ("2026-11-20 10:15:00", "incast"),
    ]


def test_entries_of_one_experiment(tmp_path: Path) -> None:
    make(tmp_path, "incast", 20)
    make(tmp_path, "shuffle", 22)
    found = find_entries(tmp_path, lambda _: False, "incast")
    assert [entry.experiment for entry in found] == ["incast"]


def test_run_directory_is_one_entry(tmp_path: Path) -> None:
    run = make(tmp_path, "incast", 20)
    assert [entry.directory for entry in entries(run)] == [run]


@pytest.mark.parametrize(
    ("status", "is_locked", "state", "text"),
    [
        ("complete", False, State.COMPLETE, "complete, 3 cells, 1 failed"),
        ("partial", False, State.PARTIAL, "partial, 1 of 3, 1 failed"),
        ("partial", True, State.RUNNING, "running, 1 of 3, 1 failed"),
        ("running", True, State.RUNNING, "running, 1 of 3, 1 failed"),
        ("running", False, State.STOPPED, "killed, 1 of 3, 1 failed"),
    ],
)
def test_status(tmp_path: Path, status: str, is_locked: bool, state: State, text: str) -> None:
    cells = [cell("a"), cell("b", status="failed"), cell("c", status="pending")]
    run = make(tmp_path, "incast", 20, status=status, cells=cells)
    (entry,) = entries(tmp_path, (run,) if is_locked else ())
    assert (entry.state, entry.status) == (state, text)


def test_running_run_counts_its_cell_directories(tmp_path: Path) -> None:
    run = make(tmp_path, "incast", 20, status="running", cells=[cell("a", status="pending"), cell("b")])
    for name in ("a", "b", "c.failed-1", ".writing-d"):
        (run / "cells" / name).mkdir()
    assert entries(tmp_path, (run,))[0].status == "running, 2 of 2"


@pytest.mark.parametrize(
    "wrap", [lambda outcomes: outcomes, lambda outcomes: {"schema": 1, "outcomes": outcomes}]
)
def test_verdicts_of_either_form_of_the_file(tmp_path: Path, wrap: object) -> None:
    run = make(tmp_path, "incast", 20)
    told = ["missed", "reproduced", "not run", "agrees, n = 1", "reproduced", "needs hardware", 7, "new word"]
    assert callable(wrap)
    (run / "claims.json").write_text(json.dumps(wrap([{"verdict": verdict} for verdict in told] + ["x"])))
    assert entries(tmp_path)[0].verdicts == "2 reproduced, 1 agrees, n = 1, 1 missed, 1 new word"


def test_verdicts_of_claims_with_badges_are_one_number(tmp_path: Path) -> None:
    run = make(tmp_path, "incast", 20)
    told = [
        {"verdict": "reproduced", "is_headline": True},
        {"verdict": "reproduced", "is_headline": False},
        {"verdict": "missed", "is_headline": False},
        {"verdict": "not run", "is_headline": False},
    ]
    (run / "claims.json").write_text(json.dumps(told))
    assert entries(tmp_path)[0].verdicts == "1 reproduced, 2 with badges"


@pytest.mark.parametrize("content", ["", "[", "7", '{"outcomes": 3}', "[" * 100_000])
def test_claims_that_cannot_be_read_cost_the_verdicts_alone(tmp_path: Path, content: str) -> None:
    (make(tmp_path, "incast", 20) / "claims.json").write_text(content)
    assert (entries(tmp_path)[0].state, entries(tmp_path)[0].verdicts) == (State.COMPLETE, "")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "manifest.json is not valid JSON"),
        ("{", "manifest.json is not valid JSON"),
        ("[" * 100_000, "manifest.json is not valid JSON"),
        ('"\\ud800"', "manifest.json is not what `rogue` writes"),
        ("{}", "manifest.json is not what `rogue run` writes"),
        ('{"schema_version": 1, "cells": 3, "experiment": {}}', "manifest.json is not what"),
        (
            '{"schema_version": 99, "cells": [], "experiment": {}}',
            "a later version (schema 99); update rogue",
        ),
        ('{"schema_version": 1, "cells": [], "experiment": {}, "status": "\\u001b[2J"}', "has the status '"),
    ],
)
def test_a_damaged_run_is_a_line_with_a_sentence(tmp_path: Path, content: str, words: str) -> None:
    run = make(tmp_path, "incast", 20)
    (run / "manifest.json").write_text(content)
    (entry,) = entries(tmp_path)
    assert (entry.state, entry.status, entry.created) == (State.DAMAGED, "damaged", "2026-11-20 10:15:00")
    assert words in entry.problem
    assert "\x1b" not in entry.problem


def test_a_run_without_a_manifest_is_damaged(tmp_path: Path) -> None:
    (make(tmp_path, "incast", 20) / "manifest.json").unlink()
    assert entries(tmp_path)[0].problem == "manifest.json is missing"


def test_too_large_a_manifest_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "incast", 20)
    monkeypatch.setattr(run_index, "TEXT_BYTES_MAX", 10)
    assert entries(tmp_path)[0].problem == "manifest.json is larger than any that `rogue` writes"


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", "incast", 20)
    results = tmp_path / "results"
    (results / "incast").mkdir(parents=True)
    (results / "incast" / outside.name).symlink_to(outside)
    (results / "all").symlink_to(tmp_path / "outside")
    assert entries(results) == []
    run = make(results, "incast", 21)
    (run / "manifest.json").rename(tmp_path / "manifest.json")
    (run / "manifest.json").symlink_to(tmp_path / "manifest.json")
    (run / "cells/big").symlink_to("/usr")
    (run / "report.html").symlink_to("/etc/passwd")
    (entry,) = entries(results)
    assert (entry.state, entry.report) == (State.DAMAGED, None)


def test_size_does_not_follow_links(tmp_path: Path) -> None:
    run = make(tmp_path, "incast", 20)
    own = (run / "manifest.json").stat().st_size
    (run / "cells/a").mkdir()
    (run / "cells/a/flows.parquet").write_bytes(b"x" * 1000)
    assert entries(tmp_path)[0].size_bytes == own + 1000
    (run / "cells/all").symlink_to("/usr")
    assert entries(tmp_path)[0].size_bytes == own + 1000 + len("/usr")


def test_other_directories_are_not_runs(tmp_path: Path) -> None:
    make(tmp_path / "a/b/c", "incast", 20)
    (tmp_path / ".deleting-20261120T101500Z-3f9a1c").mkdir()
    (tmp_path / "notes").mkdir()
    assert entries(tmp_path) == []


class TestReportsOnSeveral:
    def make(self, results: Path, *runs: Path) -> Path:
        directory = results / "reports/20261122T101500Z-abcdef"
        directory.mkdir(parents=True)
        told = [{"run_id": run.name, "experiment": run.parent.name} for run in runs]
        (directory / "runs.json").write_text(json.dumps({"schema": 1, "runs": told}))
        (directory / "report.html").write_text("x")
        return directory

    def test_is_a_line(self, tmp_path: Path) -> None:
        directory = self.make(tmp_path, make(tmp_path, "incast", 20), make(tmp_path, "shuffle", 21))
        entry = entries(tmp_path)[0]
        assert (entry.state, entry.status) == (State.REPORT, "report on 2 runs")
        assert (entry.experiment, entry.problem) == ("incast, shuffle", "")
        assert entry.report == directory / "report.html"
        assert find_entries(tmp_path, lambda _: False, "shuffle")[0] == entry

    def test_counts_runs_that_are_gone(self, tmp_path: Path) -> None:
        first, second = make(tmp_path, "incast", 20), make(tmp_path, "shuffle", 21)
        self.make(tmp_path, first, second)
        (first / "manifest.json").unlink()
        first.rename(tmp_path / "elsewhere")
        assert entries(tmp_path)[0].problem == "1 of its runs not found here"

    def test_may_be_damaged(self, tmp_path: Path) -> None:
        directory = self.make(tmp_path)
        (directory / "runs.json").write_text("{}")
        assert entries(tmp_path)[0].problem == "runs.json is not what `rogue report` writes"


HOSTILE = "a\x1b]0;b\x07\u202e<script>&\n\x9b2J\ud800"


class TestText:
    def test_nothing_steers_a_terminal(self) -> None:
        text = shown(HOSTILE)
        assert text == "a\ufffd]0;b\ufffd\ufffd<script>&\ufffd\ufffd2J\ufffd"
        assert all(unicodedata.category(letter)[0] != "C" for letter in text)

    def test_is_short(self) -> None:
        assert len(shown("x" * 10_000)) == 200
