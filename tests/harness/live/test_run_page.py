"""The page of a run: while it goes, and when it is over."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from helpers.browser import LOGGED, browse, complaints
from helpers.command_line import rogue, start_rogue
from helpers.experiments import SMALL, load_text, write_experiment
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell_record, failed_record, manifest_of
from helpers.waiting_run import PATIENCE_SECONDS, Waiting, page_with

from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.slot import InlineSlot
from rogue.harness.live import run_page as module
from rogue.harness.live.preview import FIGURES, NUMBERS, PartialReport, Preview, PreviewProcess, serve
from rogue.harness.live.run_page import RunPage, RunState
from rogue.harness.plan.plan import make_plan
from rogue.harness.results.recorded_run import SO_FAR, Run, present_manifest
from rogue.harness.results.run_directory import write_manifest
from rogue.harness.run import Workers, cells_left, start_run, work
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus

REPORT = '<html><head><title>x</title></head><body><main id="main"><p>figures</p></main></body></html>'


class NoFigures(AbstractContextManager[None]):
    """Replaces the process that builds reports."""

    latest: PartialReport | None = None
    problem: str | None = None

    def __init__(self, *_: object) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def stop(self) -> None: ...


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> type[NoFigures]:
    own = type("OwnFigures", (NoFigures,), {})
    monkeypatch.setattr(module, "PreviewProcess", own)
    return own


@pytest.fixture
def live(tmp_path: Path, figures: type[NoFigures]) -> Iterator[RunPage]:
    run = tmp_path / "results; id" / "20261120T101500Z-000001"
    (run / "cells").mkdir(parents=True)
    cells = [cell_record("a", status=CellStatus.OK, session=0), failed_record("b"), cell_record("c")]
    manifest = manifest_of(cells)
    write_manifest(run, manifest)
    with RunPage(run, lambda: RunState(manifest, {"c": 0.5}, 60.0, {})) as page:
        yield page


def get(url: str) -> str:
    with urlopen(url, timeout=PATIENCE_SECONDS) as response:
        return str(response.read().decode())


def test_page_without_figures_shows_cells_and_failures(live: RunPage) -> None:
    page = get(live.url)
    assert '<meta http-equiv="refresh" content="2">' in page
    assert "<h1>A &lt;small&gt; one</h1>" in page
    assert "<dt>finished</dt><dd>1</dd>" in page
    assert "<dt>running</dt><dd>1</dd>" in page
    assert "<code>c</code> 50 %" in page
    assert "<code>b</code> bug: as asked" in page
    assert "Figures come once a cell is finished." in page
    with pytest.raises(HTTPError, match="404"):
        get(live.url + "report")


def test_page_with_figures_is_the_report_so_far(live: RunPage, figures: type[NoFigures]) -> None:
    figures.latest = PartialReport(1, REPORT)
    page = get(live.url)
    assert page.index("This run is in progress") < page.index("<p>figures</p>")
    assert '<meta http-equiv="refresh"' in page
    assert 'href="report"' in page, "from the page's own address, which has the key"
    assert get(live.url + "report") == REPORT


def test_page_of_a_search_shows_its_progress(live: RunPage) -> None:
    (live._run / SO_FAR).write_text("the smallest jain\ntpe: 3 proposals\ntpe 3: .5 <b>")
    page = live.page("/") or ""
    assert "<p>tpe: 3 proposals</p>" in page and "<p>Last: tpe 3: .5 &lt;b&gt;</p>" in page
    assert "<progress" not in page, "the number of cells is not known"


def test_a_large_page_is_fetched_less_often(live: RunPage, figures: type[NoFigures]) -> None:
    figures.latest = PartialReport(1, REPORT + " " * 1_000_000)
    assert live.refresh_seconds == 7
    figures.latest = PartialReport(1, REPORT + " " * 100_000_000)
    assert live.refresh_seconds == 30


def test_failed_figures_are_reported(live: RunPage, figures: type[NoFigures]) -> None:
    figures.problem = "ValueError: <no ink>"
    assert "could not be built (ValueError: &lt;no ink&gt;)" in get(live.url)


def test_last_page_is_the_report(live: RunPage) -> None:
    get(live.url)
    (live._run / "report.html").write_text(REPORT)
    ending = threading.Thread(target=live.over)
    ending.start()
    page = ""
    while "The run is over" not in page:  # asked before it was over
        page = get(live.url)
    ending.join(PATIENCE_SECONDS)
    assert not ending.is_alive()
    assert page.index("The run is over") < page.index("<p>figures</p>")
    assert "refresh" not in page


def test_last_page_without_a_report_names_the_command(live: RunPage) -> None:
    live.over()
    page = get(live.url)
    assert f"rogue report &#39;{live._run}&#39;" in page, "people copy it into a shell"
    assert "refresh" not in page


OK, FAILED = CellStatus.OK, CellStatus.FAILED


def run_state(cells: list[CellRecord], **changes: object) -> RunState:
    fields = {"running": None, "elapsed_seconds": 30.0, "weights": {}} | changes
    return RunState(manifest_of(cells), **fields)  # type: ignore[arg-type]


def test_share_is_by_expected_seconds_and_counts_what_runs() -> None:
    cells = [cell_record("a", status=OK, session=0), cell_record("b"), cell_record("c")]
    now = run_state(cells, running={"b": 0.5}, weights={"a": 10.0, "b": 20.0, "c": 30.0})
    assert now.share == pytest.approx(20 / 60)
    assert now.seconds_left == pytest.approx(60)
    assert (now.waiting, now.count(OK)) == (1, 1)


def test_without_expectations_all_cells_are_alike() -> None:
    cells = [cell_record("a", status=OK, session=0), failed_record("b"), cell_record("c"), cell_record("d")]
    cells[1].session = 0
    assert run_state(cells).share == 0.5


def test_cells_of_an_earlier_session_do_not_count() -> None:
    cells = [cell_record("a", status=OK, session=0), cell_record("b", status=OK, session=1), cell_record("c")]
    now = RunState(manifest_of(cells, sessions=2), None, 30.0, {})
    assert now.share == 0.5


def test_failed_cell_that_runs_again_is_not_failed() -> None:
    first = failed_record("a")
    first.session = 0
    now = RunState(manifest_of([first, failed_record("b")], sessions=2), {"a": 0.25}, 30.0, {})
    assert [cell.id for cell in now.of_status(FAILED)] == ["b"]
    assert now.share == 0.25


def test_unsupported_cells_do_not_count() -> None:
    cells = [cell_record("a", status=CellStatus.UNSUPPORTED), cell_record("b", status=OK, session=0)]
    assert run_state(cells).share == 1.0
    assert run_state([cells[0]]).share == 1.0


def test_end_is_not_estimated_at_the_beginning() -> None:
    assert run_state([cell_record("a")]).seconds_left is None


class StopsAfterOne(Watcher):
    def on_finished(self, record: CellRecord) -> None:
        raise KeyboardInterrupt


@pytest.fixture
def going(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with one of two cells finished, of which its manifest does not know."""
    monkeypatch.setattr("rogue.harness.execution.scheduler.Slot", InlineSlot)
    plan = make_plan(load_text(tmp_path, SMALL), FakeTestbed())
    run = start_run(plan, tmp_path / "results", ["rogue", "run"])
    behind = (run.directory / "manifest.json").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        work(run, plan, cells_left(run, plan), Workers(1), StopsAfterOne())
    (run.directory / "manifest.json").write_bytes(behind)
    return run


def test_preview_reads_finished_cells_only(going: Run, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in going.directory.rglob("*")}
    preview, page = Preview(going.directory, tmp_path / "page.html"), tmp_path / "page.html"
    preview.build(NUMBERS)
    numbers = page.read_text()
    assert "1 of 2 cells are finished" in numbers
    assert ("<table>" in numbers, "not drawn, and why" in numbers) == (True, False)
    preview.build(FIGURES)
    drawn = page.read_text()
    assert "not drawn, and why" in drawn, "the fake testbed measures nothing that a figure draws"
    preview.build(NUMBERS)
    assert page.read_text() == drawn, "the figures stay"
    assert {path: path.stat().st_mtime_ns for path in going.directory.rglob("*")} == before


def test_figures_are_built_in_a_process(going: Run, tmp_path: Path) -> None:
    figures = PreviewProcess(going.directory, lambda: present_manifest(going.directory))
    assert figures.latest is None
    figures._build("fake", tmp_path / "page.html", 1)
    assert figures.latest is not None, figures.problem
    assert (figures.latest.cells, figures.problem) == (1, None)
    assert "1 of 2 cells are finished" in figures.latest.page
    figures._end()
    figures._run = tmp_path / "gone"
    figures._build("fake", tmp_path / "page.html", 1)
    assert figures.problem is not None
    assert "expected a run's manifest" in figures.problem
    assert figures.latest is not None


@pytest.mark.parametrize(
    ("testbed", "expected"),
    [
        ("simulator", [NUMBERS, FIGURES, 10, NUMBERS, FIGURES]),
        *(
            (name, [19, NUMBERS, FIGURES, NUMBERS, FIGURES])
            for name in ("kernel", "virtual", "lab", "a.yaml")
        ),
    ],
)
def test_preview_yields_to_the_cells(
    testbed: str, expected: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []
    monkeypatch.setattr("os.nice", done.append)
    monkeypatch.setattr(Preview, "build", lambda _, what: done.append(what))
    serve(testbed, tmp_path, tmp_path / "page.html", [f"{NUMBERS}\n", f"{FIGURES}\n"] * 2)
    assert done == expected


def test_preview_imports_nothing_from_the_working_directory(
    going: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "of a stranger"
    folder.mkdir()
    (folder / "typing.py").write_text("raise SystemExit('a file of a stranger')\n")
    monkeypatch.chdir(folder)
    figures = PreviewProcess(going.directory, lambda: present_manifest(going.directory))
    figures._build("fake", tmp_path / "page.html", 1)
    figures.stop()
    assert (figures.problem, figures.latest is None) == (None, False)


class TestLive:
    def test_page_follows_the_run(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path, "throws", "--live")
        assert waiting.process.stderr is not None
        url = waiting.process.stderr.readline().removeprefix("live: ").strip()
        page = page_with("<code>waits-r1</code> 50 %", url, waiting.process)
        assert '<meta http-equiv="refresh"' in page
        assert "<code>throws-r1</code> bug: ZeroDivisionError: as asked" in page
        waiting.end_cell()
        last = page_with("The run is over", url, waiting.process)
        assert "<p>nothing</p>" in last or "report.html" in last
        assert 'http-equiv="refresh"' not in last
        done = waiting.finish()
        assert (done.code, done.run) == (1, waiting.run.relative_to(tmp_path))
        assert rogue(tmp_path, "verify", str(done.run)).code == 0

    def test_ctrl_c_ends_run_and_page_at_once(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path, "ok", "--live")
        assert waiting.process.stderr is not None
        url = waiting.process.stderr.readline().removeprefix("live: ").strip()
        page_with("This run is in progress", url, waiting.process)
        os.killpg(waiting.process.pid, signal.SIGINT)
        done = waiting.finish()
        assert (done.code, "Traceback" in done.err) == (130, False)
        assert "1 of 2 cells are finished and kept" in done.err


class TestWatch:
    @pytest.mark.needs("chromium")
    def test_shows_figures_of_what_is_finished_and_ends_with_the_run(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path)
        watching = start_rogue(tmp_path, "watch", str(waiting.run))
        assert watching.stdout is not None
        url = watching.stdout.readline().strip()
        before = {path: path.stat().st_mtime_ns for path in waiting.run.rglob("*")}
        page = page_with("the report of the first 1 finished cell", url, watching)
        assert "<dt>waiting or running</dt><dd>1</dd>" in page
        assert "1 of 2 cells are finished" in page
        assert {path: path.stat().st_mtime_ns for path in waiting.run.rglob("*")} == before
        shown = browse(url + "report", tmp_path, *LOGGED)
        assert "1 of 2 cells are finished" in shown.stdout
        assert complaints(shown) == []
        page_with("This run is in progress", url, watching)
        waiting.end_cell()
        page_with("The run is over", url, watching)
        assert waiting.finish().code == 1
        out, err = watching.communicate(timeout=PATIENCE_SECONDS)
        assert (watching.returncode, out) == (0, ""), err
        run = waiting.run
        assert f"no process works on {run}: it is partial; its report: {run}/report.html" in err

    def test_ctrl_c_ends_the_page_and_not_the_run(self, tmp_path: Path) -> None:
        waiting = Waiting(tmp_path)
        watching = start_rogue(tmp_path, "watch", str(waiting.run))
        assert watching.stdout is not None
        page_with("This run is in progress", watching.stdout.readline().strip(), watching)
        os.killpg(watching.pid, signal.SIGINT)
        _, err = watching.communicate(timeout=PATIENCE_SECONDS)
        assert (watching.returncode, "Traceback" in err) == (130, False)
        assert "the run continues" in err
        assert waiting.process.poll() is None
        waiting.end_cell()
        assert waiting.finish().code == 1

    def test_finished_run_has_no_live_page(self, tmp_path: Path) -> None:
        write_experiment(tmp_path)
        run = rogue(tmp_path, "run", "experiment.yaml", "--testbed", "fake").run
        done = rogue(tmp_path, "watch", str(run))
        assert (done.code, done.out) == (0, "")
        assert f"no process works on {run}: it is complete; its report: {run}/report.html" in done.err
        assert rogue(tmp_path, "watch", "nowhere").code == 2
