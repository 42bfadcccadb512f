"""Tests: build the report of one run or several, and the comparison of two."""

import base64
import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers.sample_run import Sample, write_sample_run
from helpers.small_runs import claim_of
from matplotlib.backends.backend_svg import FigureCanvasSVG

from rogue.reports.claims import claims_sha256, read_claims
from rogue.reports.errors import ReportError
from rogue.reports.figures import FIGURES
from rogue.reports.pages.answer import Answered
from rogue.reports.pages.build import build
from rogue.reports.reading import load
from rogue.workloads.manifest import Manifest

CSV_LINK = re.compile(r'href="data:text/csv;charset=utf-8;base64,([^"]+)" download="([^"]+)"')


def tables_of(report: Path) -> dict[str, list[dict[str, str]]]:
    links = CSV_LINK.findall(report.read_text())
    return {
        name: list(csv.DictReader(io.StringIO(base64.b64decode(content).decode()))) for content, name in links
    }


@pytest.mark.usefixtures("one_figure")
def test_report_of_one_run_is_in_its_directory(run: Path) -> None:
    assert build(run) == run / "report.html"
    assert build([run]) == run / "report.html"
    assert {path.name for path in run.iterdir()} == {"manifest.json", "cells", "claims.json", "report.html"}


@pytest.mark.usefixtures("one_figure")
def test_report_of_several_runs_has_a_directory(run: Path) -> None:
    """The same for the same runs, so that a second report replaces the first."""
    other = write_sample_run(run.parent / "other", Sample(repetitions=1, seconds=1.0))
    report = build([run, other])
    assert report.name == "report.html"
    assert report.parent.parent == run.parent / "reports"
    assert re.fullmatch(r"20261120T101500Z-[0-9a-f]{6}", report.parent.name)
    assert sorted(path.name for path in report.parent.iterdir()) == ["report.html", "runs.json"]
    assert not (run / "report.html").exists()
    assert (run / "claims.json").exists()
    assert build([other, run]) == report


@pytest.mark.usefixtures("one_figure")
def test_nothing_is_written_into_a_run_that_another_process_writes(run: Path, tmp_path: Path) -> None:
    """The report uses the manifest that it gets, not the stored one, which is older."""
    told = json.loads((run / "manifest.json").read_text())
    behind = {**told, "cells": [{**cell, "status": "pending"} for cell in told["cells"]], "status": "running"}
    (run / "manifest.json").write_text(json.dumps(behind))
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    told["status"] = "running"
    told["cells"][0]["status"] = "pending"
    text = build(run, tmp_path / "so-far.html", {run: Manifest.model_validate(told)}).read_text()
    assert "Partial: the run had not ended when this report was made; 3 of 4 cells are finished." in text
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before


@pytest.mark.usefixtures("one_figure")
@pytest.mark.parametrize(
    ("file", "is_own"),
    [("experiments/rogue-paper/figure-14a.yaml", True), ("experiments/quickstart.yaml", False)],
)
def test_result_in_brief_has_claims_of_the_own_experiment_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, is_own: bool
) -> None:
    """First the comparison, then the claims if they are about this experiment, then what was not run."""
    claim = claim_of(experiments=["rogue-paper/figure-14a"])
    monkeypatch.setattr("rogue.reports.pages.build.read_claims", lambda: [claim])
    sample = Sample(repetitions=2, seconds=1.0, unsupported=("irn",), file=file)
    said: list[Answered] = []
    text = build(write_sample_run(tmp_path, sample), on_answer=said.append).read_text()
    ((answer, notes),) = said
    verdicts = ["Against what was published: 1 missed."] if is_own else []
    assert notes[:-1] == verdicts and notes[-1].startswith("Not run: ")
    assert (
        text.index(answer.sentences[0]) < text.index('class="scroll answer-table"') < text.index("Not run:")
    )
    for words in ("Against what was published", 'href="#run1-claims"', "run1-published_beside", claim.id):
        assert (words in text) is is_own


def test_files_are_read_once_and_progress_is_reported(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, drawn = [], []
    told: list[tuple[int, int, str]] = []
    parse = load.parse_table
    draw: Any = FigureCanvasSVG.print_svg

    def parsed(content: bytes, name: str) -> object:
        read.append((name, content))
        return parse(content, name)

    def printed(canvas: Any, *args: object, **kwargs: object) -> None:
        drawn.append(canvas.figure)
        draw(canvas, *args, **kwargs)

    monkeypatch.setattr(load, "parse_table", parsed)
    monkeypatch.setattr(FigureCanvasSVG, "print_svg", printed)
    page = build(run, counted=lambda *count: told.append(count)).read_text()
    stored = [(path.stem, path.read_bytes()) for path in run.glob("cells/*/*.parquet")]
    assert all(read.count(file) <= stored.count(file) for file in read)
    assert len(drawn) == page.count('.svg" aria-label=') > 0
    measured = [count for count in told if count[2] == "measuring cells"]
    cells = len(measured)
    assert cells > 1
    assert measured == [(done, cells, "measuring cells") for done in range(1, cells + 1)]
    assert [count for count in told if count[2] == "drawing figures"] == [
        (done, len(FIGURES), "drawing figures") for done in range(len(FIGURES))
    ]


@pytest.mark.usefixtures("one_figure")
def test_output_can_be_named(run: Path, tmp_path: Path) -> None:
    assert build(run, tmp_path / "x.html") == tmp_path / "x.html"


def test_same_run_same_bytes(run: Path) -> None:
    first = build(run).read_bytes()
    assert build(run).read_bytes() == first


@pytest.mark.usefixtures("one_figure")
def test_claims_are_written_beside(run: Path) -> None:
    build(run)
    content = json.loads((run / "claims.json").read_text())
    assert (content["schema"], content["claims_sha256"]) == (1, claims_sha256())
    assert content["run_id"] == "20261120T101500Z-3f9a1c"
    assert content["commit"].startswith("e82d7a3c0ffee")
    claims = content["outcomes"]
    assert [claim["id"] for claim in claims] == [claim.id for claim in read_claims()]
    for claim in claims:
        assert {"id", "source", "published", "measured", "interval", "n", "verdict", "sentence"} <= set(claim)
        assert (claim["verdict"] in {"not run", "needs hardware"}) == (claim["measured"] is None)


@pytest.mark.usefixtures("one_figure")
def test_unreadable_run_is_named_and_the_other_reported(run: Path, tmp_path: Path) -> None:
    text = build([tmp_path / "gone", run]).read_text()
    assert "A run could not be read:" in text
    assert str(tmp_path / "gone" / "manifest.json") in text
    assert "8-to-1 incast" in text


@pytest.mark.usefixtures("one_figure")
def test_damaged_table_is_named_and_the_rest_reported(run: Path) -> None:
    (run / "cells/rogue-r1/latency.parquet").write_bytes(b"rubbish")
    report = build(run)
    assert "cells/rogue-r1/latency.parquet is not the file that the run wrote" in report.read_text()
    lines = {line["cell"]: line for line in tables_of(report)["quickstart-runs.csv"]}
    assert lines["rogue-r1"]["probe_p50_ns"] == ""
    assert lines["rogue-r1"]["jain"] != ""
    assert tables_of(report)["quickstart-delay-and-queue.csv"][0]["probe_p50_ns_n"] == "1"


@pytest.mark.usefixtures("one_figure")
def test_place_that_cannot_be_written(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="the report cannot be written"):
        build(run, tmp_path / "no" / "such" / "folder.html")
