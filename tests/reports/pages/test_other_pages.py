"""Tests: live pages, pages of searches, and several testbeds side by side."""

import base64
import math
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.browser import DARK, LOGGED, browse, complaints, measured, with_probe
from helpers.two_testbeds import SLOWER, two_testbeds

from rogue.reports.comparison.agreement import Side
from rogue.reports.metrics import METRICS
from rogue.reports.pages.build import build
from rogue.reports.pages.live import LivePage, last_page, live_page, seconds_text
from rogue.reports.pages.search_pages import (
    Part,
    Response,
    SearchPage,
    Table,
    history_picture,
    response_picture,
    search_html,
    tornado_picture,
)
from rogue.reports.pages.side_by_side import Difference, SideBySide, side_by_side, with_ends, without_shared
from rogue.reports.quantities import NARROW_SPACE, Unit
from rogue.reports.results import Results

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
def test_clock_times(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_live_page_without_a_report() -> None:
    page = live_page(LIVE, None)
    assert "<h1>A &lt;small&gt; one</h1>" in page
    assert '<meta http-equiv="refresh" content="7">' in page
    assert '<progress max="100" value="62"' in page
    assert "<dt>time left</dt><dd>about 36 s</dd>" in page
    assert "<dt>waiting</dt>" not in page
    assert "bug: �[2J&lt;script&gt;" in page
    assert "<script" not in page


def test_live_page_contains_the_report(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    page = live_page(LIVE, text)
    assert page.startswith(text[: text.index("</head>")])
    assert page.endswith(text[text.index('<main id="main">') + len('<main id="main">') :])
    assert page.count("<h1>") == page.count("</head>") == page.count('<main id="main">') == 1
    assert "the report of the first 2 finished cells" in page


def test_last_page_does_not_reload(report: Path) -> None:
    page = last_page("x", "results/x", LIVE.counts, report.read_text(encoding="utf-8"))
    assert "The run is over" in page
    assert "<code>results/x/report.html</code>" in page
    assert 'http-equiv="refresh"' not in page
    assert "rogue report results/x" in last_page("x", "results/x", LIVE.counts, None)


def test_unknown_state_of_a_live_page() -> None:
    page = live_page(replace(LIVE, running=None, seconds_left=None, figures_of=None, problem="no ink"), None)
    assert "not known yet" in page
    assert "could not be built (no ink)" in page


def test_many_failures_are_shortened() -> None:
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


TICKS = [(0.0, "1us"), (0.5, "10us"), (1.0, "100us")]


def written(number: float) -> str:
    return f"{number:g} ms"


def described(picture: str) -> str:
    """Return the text alternative of a picture."""
    return picture.partition("<desc")[2].partition(">")[2].partition("</desc>")[0]


def page() -> str:
    pictures = [
        (
            history_picture({"tpe": [(1, 5.0), (2, 2.0)]}, "Time of all", "{:g} s".format, is_least=True),
            "Worst value so far",
        ),
        (tornado_picture([("topology.delay", 2.0, 1.0)], "jain", written, "tornado"), "mu*"),
    ]
    head = ("Proposal", "Value", "claim", "workload.size")
    table = Table("Proposals", head, [("1", "<b>", "", "37KB"), ("2", "", "", "38KB")])
    shown = [(picture, caption) for picture, caption in pictures if picture is not None]
    part = Part("Proposals of tpe", ["A sentence."], shown, [table])
    return search_html(
        SearchPage("Search", "Who breaks?", ["No finding."], [part], "A footer.", [("find.yml", "The file")])
    )


def test_search_page_escapes_its_content() -> None:
    text = page()
    assert text.count("<svg") == 2 and "No finding." in text and "&lt;b&gt;" in text and "A footer." in text
    assert "<script" not in text and "http" not in text.replace("http-equiv", "").replace(
        "http://www.w3.org", ""
    )


def test_search_page_links_its_files_and_has_no_empty_column() -> None:
    text = page()
    assert '<a href="find.yml">The file</a>' in text
    heads = text.partition("<thead>")[2].partition("</thead>")[0]
    assert "claim" not in heads and all(name in heads for name in ("Proposal", "Value", "workload.size"))
    assert text.partition("<tbody>")[2].partition("</tbody>")[0].count("<td") == 4


def test_the_history_has_each_sampler_and_no_infinite_value() -> None:
    values = {"tpe": [(1, 5.0), (2, None), (3, 2.0)], "random": [(1, math.inf), (2, 900.0)]}
    text = str(history_picture(values, "Time of all", "{:g} s".format, is_least=True))
    assert "tpe, furthest so far" in text and "random, furthest so far" in text
    assert described(text) == (
        "Time of all, furthest value: tpe 2 s at proposal 3 of 3; random 900 s at proposal 2 of 2."
    )
    assert (
        history_picture({"tpe": [(1, math.inf), (2, None)]}, "Time of all", "{:g} s".format, is_least=True)
        is None
    )


def test_a_response_has_its_values_the_published_line_and_both_verdicts() -> None:
    points = [(0.0, 1.0, True), (0.5, 4.0, False), (1.0, 9.0, False)]
    text = str(response_picture([Response("topology.delay", TICKS, points)], 2.0, written, "c"))
    assert all(word in text for word in ("topology.delay", "10us", "8 ms", "published", "the claim holds"))
    assert "it does not" in text and "a point that ran" not in text
    assert described(text) == (
        "published 2 ms; topology.delay: 1 ms to 9 ms over 3 points, the claim holds at 1."
    )
    far = response_picture([Response("k", TICKS, [(0.0, 1.0, None), (1.0, 900.0, None)])], None, written, "c")
    assert "100 ms" in str(far) and "a point that ran" in str(far) and "published" not in str(far)
    assert response_picture([Response("k", TICKS, [])], 2.0, written, "c") is None


def test_tornado_without_missing_numbers() -> None:
    bars = [("topology.delay", 2.0, 1.0), ("workload.size", math.nan, math.nan)]
    text = str(tornado_picture(bars, "jain", written, "t"))
    assert described(text) == "Mean change over the range: topology.delay 2 ms ± 1 ms."
    assert tornado_picture(bars[1:], "jain", written, "t") is None


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_the_page_can_be_read(tmp_path: Path, options: tuple[str, ...]) -> None:
    file = tmp_path / "search.html"
    file.write_text(page())
    assert complaints(browse(file, tmp_path, *LOGGED, *options)) == []


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    return two_testbeds(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def compared(results: list[Results]) -> SideBySide:
    (comparison,) = side_by_side(results)
    return comparison


def row(compared: SideBySide, measure: str, transport: str = "RoGUE") -> list[str]:
    (found,) = [
        [value.text for value in each]
        for each in compared.table.rows
        if (each[0].text, each[1].text) == (transport, measure)
    ]
    return found[2:]


def test_measures_of_testbeds_have_ratios(compared: SideBySide) -> None:
    assert [head.text for head in compared.table.head][2:] == ["simulator", "virtual", "÷ simulator"]
    own, its, ratio = row(compared, "All flows together")
    assert "Gb/s" in own
    assert its != own
    assert float(ratio) == pytest.approx(SLOWER, abs=0.01)


def test_missing_result_is_a_dash_with_a_reason(compared: SideBySide) -> None:
    own, its, ratio = row(compared, "All flows together", "Native RoCE without PFC")
    assert own != its == ratio == "–"
    assert compared.missing == (
        "Native RoCE without PFC has no result on virtual (3 cells): the simulator has no roce yet",
    )


def test_large_difference_has_reasons(compared: SideBySide) -> None:
    (rogue,) = compared.differences
    assert rogue.sentence.startswith("RoGUE: All flows together 9.21")
    assert "; Packets dropped 0 on simulator and" in rogue.sentence
    assert any("the processor of h0 is busy for 97.0" in reason for reason in rogue.reasons)


def test_means_have_their_range(results: list[Results]) -> None:
    setting = results[0].measured_settings[0]
    side = Side("simulator", results[0], setting)
    values = results[0].per_run(setting, "probe_p50_ns")
    assert len(set(values)) > 1
    mean, _, ends = with_ends(side, METRICS["probe_p50_ns"], Unit.TIME.value).partition(" (")
    low, high = map(float, ends.rstrip(")").split(" to "))
    assert low <= float(mean.split(NARROW_SPACE)[0]) <= high
    assert low < high
    assert with_ends(side, METRICS["drops_packets"], Unit.COUNT.value) == "0", "one value needs no ends"
    assert with_ends(None, METRICS["jain"], Unit.INDEX.value) == "–"


def test_shared_reason_is_listed_once() -> None:
    found = [Difference("one", ("software", "drops")), Difference("other", ("software",))]
    apart, shared = without_shared(found)
    assert [each.reasons for each in apart] == [("drops",), ()]
    assert shared == ["software"]
    assert without_shared(found[:1]) == (found[:1], []), "alone it keeps its own"


def test_level_measures_are_no_difference(compared: SideBySide) -> None:
    assert not [each for each in compared.differences if "Probe" in each.sentence]


def test_the_table_can_be_taken_away_in_base_units(compared: SideBySide) -> None:
    text = base64.b64decode(compared.table.csv_href.partition(",")[2]).decode()
    (line,) = [line for line in text.splitlines() if line.startswith("RoGUE,aggregate_bps")]
    own, its, ratio = map(float, line.split(",")[2:])
    assert its / own == pytest.approx(ratio) == pytest.approx(SLOWER, abs=0.01)


def test_two_runs_on_one_testbed_are_not_compared(results: list[Results]) -> None:
    assert side_by_side([results[0], results[0]]) == []
    assert side_by_side(results[:1]) == []


@pytest.mark.usefixtures("one_figure")
def test_comparison_comes_before_the_runs(results: list[Results], tmp_path: Path) -> None:
    page = build([each.run.directory for each in results], tmp_path / "both.html").read_text()
    place = page.index("Side by side: ")
    assert place < page.index("÷ simulator") < page.index('id="run1"')
    assert "busy for 97.0" in page


def test_every_cell_of_a_row_has_one_unit(compared: SideBySide) -> None:
    units = {"ns", "µs", "ms", "s", "B", "KB", "MB", "GB", "Mb/s", "Gb/s"}
    for row in compared.table.rows:
        found = {word for value in row[2:] for word in value.text.split(NARROW_SPACE) if word in units}
        assert len(found) <= 1, [value.text for value in row]
