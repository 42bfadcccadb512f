"""The page of a run: while it goes, and when it is over."""

import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from helpers.small_runs import cell_record, failed_record, manifest_of

from rogue.harness.live import run_page as module
from rogue.harness.live.preview import SoFar
from rogue.harness.live.run_page import RunPage
from rogue.harness.live.run_state import RunState
from rogue.harness.results.manifest import write_manifest
from rogue.harness.results.recorded_run import SO_FAR
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
