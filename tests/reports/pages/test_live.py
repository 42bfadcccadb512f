"""The page of a run that goes, and its last one."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.browser import DARK, LOGGED, browse, complaints, measured, with_probe

from rogue.reports.pages.live import LivePage, last_page, live_page, seconds_text

LIVE = LivePage(
    title="A <small> one",
    run="results/small/20261120T101500Z-3f9a1c",
    testbed="simulator",
    counts=(("finished", 2), ("failed", 1), ("running", 1), ("waiting", 0), ("cells", 4)),
    share=0.625,
    elapsed_seconds=60.0,
    seconds_left=36.0,
    running=[("roce-r2", 0.5)],
    failed=[("roce-r1", "bug: \x1b[2J<script>")],
    refresh_seconds=7,
    figures_of=2,
    problem=None,
)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (89.4, "89 s"), (90, "2 min"), (3600, "60 min"), (11_100, "3 h 5 min")]
)
def test_times_are_short(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_a_page_of_its_own_before_there_is_a_report() -> None:
    page = live_page(LIVE, None)
    assert "<h1>A &lt;small&gt; one</h1>" in page
    assert '<meta http-equiv="refresh" content="7">' in page
    assert '<progress max="100" value="62"' in page
    assert "<dt>time left</dt><dd>about 36 s</dd>" in page
    assert "<dt>waiting</dt>" not in page
    assert "bug: �[2J&lt;script&gt;" in page
    assert "<script" not in page


def test_the_report_so_far_keeps_all_it_has(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    page = live_page(LIVE, text)
    assert page.startswith(text[: text.index("</head>")])
    assert page.endswith(text[text.index('<main id="main">') + len('<main id="main">') :])
    assert page.count("<h1>") == 1
    assert "the report of the first 2 finished cells" in page


def test_only_the_last_page_stays(report: Path) -> None:
    page = last_page("x", "results/x", LIVE.counts, report.read_text(encoding="utf-8"))
    assert "The run is over" in page
    assert "<code>results/x/report.html</code>" in page
    assert 'http-equiv="refresh"' not in page
    assert "rogue report results/x" in last_page("x", "results/x", LIVE.counts, None)


def test_what_is_not_known_is_said() -> None:
    page = live_page(replace(LIVE, running=None, seconds_left=None, figures_of=None, problem="no ink"), None)
    assert "not known yet" in page
    assert "could not be built (no ink)" in page


def test_of_many_failures_the_first_are_named() -> None:
    page = live_page(replace(LIVE, failed=[(f"cell-{n}", "bug") for n in range(60)]), None)
    assert "60 cells failed" in page
    assert "cell-49" in page
    assert "cell-50" not in page
    assert "and 10 more" in page


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("options", [("--window-size=390,900",), (DARK,)])
def test_in_a_browser(tmp_path: Path, options: tuple[str, ...]) -> None:
    page = tmp_path / "live.html"
    page.write_text(live_page(replace(LIVE, refresh_seconds=1000), None))
    assert complaints(browse(page, tmp_path, *LOGGED)) == []
    found = measured(with_probe(page, tmp_path / "probe.html"), tmp_path, *options)
    assert isinstance(found["worst"], list)
    assert found["worst"][0][0] >= 4.5
    assert (found["wide"], found["loaded"]) == (0, [])
