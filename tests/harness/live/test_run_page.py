"""The page of a run: while it goes, and when it is over."""

import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from helpers.experiments import cell_of
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell_record, failed_record, manifest_of

from rogue.harness.execution.task import Task
from rogue.harness.live import run_page as module
from rogue.harness.live.preview import SoFar
from rogue.harness.live.run_page import LiveWatcher, Running, RunPage, RunState
from rogue.harness.results.manifest import write_manifest
from rogue.harness.results.recorded_run import SO_FAR
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus

PATIENCE_SECONDS = 60
REPORT = '<html><head><title>x</title></head><body><main id="main"><p>figures</p></main></body></html>'


class NoFigures:
    """Stands in for what builds reports."""

    latest: SoFar | None = None
    problem: str | None = None

    def __init__(self, *_: object) -> None:
        self.stopped = False

    def __enter__(self) -> "NoFigures":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> type[NoFigures]:
    own = type("OwnFigures", (NoFigures,), {})
    monkeypatch.setattr(module, "Figures", own)
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


def test_before_the_first_figures_it_shows_cells_and_failures(live: RunPage) -> None:
    page = get(live.url)
    assert '<meta http-equiv="refresh" content="5">' in page
    assert "<h1>A &lt;small&gt; one</h1>" in page
    assert "<dt>finished</dt><dd>1</dd>" in page
    assert "<dt>running</dt><dd>1</dd>" in page
    assert "<code>c</code> 50 %" in page
    assert "<code>b</code> bug: as asked" in page
    assert "Figures come once a cell is finished." in page
    with pytest.raises(HTTPError, match="404"):
        get(live.url + "report")


def test_with_figures_it_is_the_report_so_far(live: RunPage, figures: type[NoFigures]) -> None:
    figures.latest = SoFar(1, REPORT)
    page = get(live.url)
    assert page.index("This run is going") < page.index("<p>figures</p>")
    assert '<meta http-equiv="refresh"' in page
    assert 'href="report"' in page, "from the page's own address, which has the key"
    assert get(live.url + "report") == REPORT


def test_of_a_search_it_shows_how_far_that_has_come(live: RunPage) -> None:
    (live._run / SO_FAR).write_text("the smallest jain\ntpe: 3 proposals\ntpe 3: .5 <b>")
    page = live.page("/") or ""
    assert "<p>tpe: 3 proposals</p>" in page and "<p>Last: tpe 3: .5 &lt;b&gt;</p>" in page
    assert "<progress" not in page, "nobody knows how many cells there will be"


def test_a_large_page_is_fetched_less_often(live: RunPage, figures: type[NoFigures]) -> None:
    figures.latest = SoFar(1, REPORT + " " * 1_000_000)
    assert live.refresh_seconds == 10
    figures.latest = SoFar(1, REPORT + " " * 100_000_000)
    assert live.refresh_seconds == 30


def test_figures_that_fail_are_a_sentence(live: RunPage, figures: type[NoFigures]) -> None:
    figures.problem = "ValueError: <no ink>"
    assert "could not be built (ValueError: &lt;no ink&gt;)" in get(live.url)


def test_the_last_page_is_the_report_and_is_waited_for(live: RunPage) -> None:
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


def test_a_page_from_before_the_end_is_not_the_last_one(live: RunPage) -> None:
    """A slow browser may get the live page when the run is over already; the last one is still waited for."""
    page = live.page("/")
    assert page is not None
    ending = threading.Thread(target=live.over)
    live.on_sent(page)
    ending.start()
    while live.page("/") == page:  # until it is over
        live.on_sent(page)
    live.on_sent(page)
    assert not live._last_page_fetched.is_set()
    get(live.url)
    ending.join(PATIENCE_SECONDS)
    assert live._last_page_fetched.is_set()


def test_a_run_without_a_report_says_how_to_build_one(live: RunPage) -> None:
    live.over()
    page = get(live.url)
    assert f"rogue report &#39;{live._run}&#39;" in page, "people copy it into a shell"
    assert "refresh" not in page


def test_nobody_who_looked_is_nobody_to_wait_for(live: RunPage, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(live._last_page_fetched, "wait", waited.append)
    live.over()
    assert waited == []


OK, FAILED = CellStatus.OK, CellStatus.FAILED


def run_state(cells: list[CellRecord], **changes: object) -> RunState:
    told = {"running": None, "elapsed_seconds": 30.0, "weights": {}} | changes
    return RunState(manifest_of(cells), **told)  # type: ignore[arg-type]


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


def test_what_an_earlier_call_did_is_no_work_of_this_one() -> None:
    cells = [cell_record("a", status=OK, session=0), cell_record("b", status=OK, session=1), cell_record("c")]
    now = RunState(manifest_of(cells, sessions=2), None, 30.0, {})
    assert now.share == 0.5


def test_what_failed_before_and_runs_again_is_no_failure_now() -> None:
    first = failed_record("a")
    first.session = 0
    now = RunState(manifest_of([first, failed_record("b")], sessions=2), {"a": 0.25}, 30.0, {})
    assert [cell.id for cell in now.of_status(FAILED)] == ["b"]
    assert now.share == 0.25


def test_cells_that_cannot_run_are_no_work() -> None:
    cells = [cell_record("a", status=CellStatus.UNSUPPORTED), cell_record("b", status=OK, session=0)]
    assert run_state(cells).share == 1.0
    assert run_state([cells[0]]).share == 1.0


def test_nothing_is_said_of_the_end_before_something_is_done() -> None:
    assert run_state([cell_record("a")]).seconds_left is None


class Silent:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def on_started(self, task: Task) -> None:
        self.heard.append("started")

    def on_progress(self, task: Task, fraction: float) -> None:
        self.heard.append(fraction)

    def on_finished(self, record: CellRecord) -> None:
        self.heard.append(record.id)


def test_the_watcher_knows_what_runs_and_passes_everything_on(tmp_path: Path) -> None:
    silent, running = Silent(), Running()
    watcher = LiveWatcher(silent, running)
    cell = cell_of(tmp_path)
    task = Task(cell, FakeTestbed(), tmp_path, cell_record(cell.id))
    watcher.on_started(task)
    assert running.copy() == {cell.id: 0.0}
    watcher.on_progress(task, 0.5)
    assert running.copy() == {cell.id: 0.5}
    watcher.on_finished(cell_record(cell.id))
    assert running.copy() == {}
    assert silent.heard == ["started", 0.5, cell.id]
