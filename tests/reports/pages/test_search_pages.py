"""Tests: pages of searches, sensitivity analyses and known weaknesses."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.browser import DARK, LOGGED, browse, complaints, measured, steps_in, with_probe

from rogue.reports.pages.factor_curves import Curve, Dot, Step
from rogue.reports.pages.search_pages import (
    Answer,
    Bar,
    Ran,
    Result,
    Row,
    Searched,
    Sensitivity,
    Tornado,
    Weaknesses,
    WeaknessRow,
    furthest_so_far,
    script_text,
    search_html,
    sensitivity_html,
    weaknesses_html,
)
from rogue.reports.quantities import Unit
from rogue.reports.templates.environment import script_source

ROWS = [
    Row("tpe", 1, 5.0, "5 s", ["37KB"], "", False),
    Row("tpe", 2, None, "no number", ["<b>"], "too few hosts", False),
    Row("tpe", 3, 2.0, "2 s", ["1KB"], "", True),
    Row("random", 1, math.inf, "infinite", ["9KB"], "", False),
]


def page_of(rows: list[Row]) -> str:
    return search_html(Searched("Who breaks?", ["No find."], ["workload.size"], rows, "whole_ns", True))


def test_the_line_shows_how_far_a_sampler_has_got() -> None:
    assert furthest_so_far(ROWS[:3], is_least=True) == [(1, 5.0), (3, 2.0)]
    assert furthest_so_far(ROWS[:3], is_least=False) == [(1, 5.0), (3, 5.0)]
    assert furthest_so_far(ROWS[3:], is_least=True) == []


def test_the_page_has_the_summary_and_every_proposal_the_furthest_first() -> None:
    page = page_of(ROWS)
    assert "<svg" in page and "No find." in page and "&lt;b&gt;" in page
    of_tpe = page[page.index('id="of-tpe"') :]
    assert of_tpe.index("2 s, a candidate") < of_tpe.index("5 s") < of_tpe.index("too few hosts")
    assert "<script" not in page and "http" not in page.replace("http-equiv", "").replace(
        "http://www.w3.org", ""
    )


def test_without_a_number_there_is_no_figure() -> None:
    page = page_of(ROWS[1:2])
    assert "<figure>" not in page


def test_ticks_of_values_far_apart_are_numbers() -> None:
    rows = [Row("tpe", 1, 0.01, "", [""], "", False), Row("tpe", 2, 10.0, "", [""], "", False)]
    page = page_of(rows)
    assert "mathdefault" not in page and ">0.1<" in page and "whole_ns" in page


def test_its_figure_has_the_colours_of_light_and_dark() -> None:
    page = page_of(ROWS)
    assert "--c-" in page.partition("</style>")[0]


BARS = [Bar("workload.senders", 5.0, 1.0, ["5 s", "5 s", "1 s", "2 of 4"]), Bar("a<b", 0.0, 0.0, ["0 s"] * 4)]
KEYS = ["workload.senders", "a<b"]
ENDS = ((0.0, "2"), (1.0, "8"))
CURVE = Curve(
    "workload.senders", ENDS, [Dot(0.0, 2.0, True), Dot(1.0, 8.0, False)], [Step(0.0, 1.0, 2.0, 8.0)]
)
RAN = [
    Ran("own-r1", ["2", "x"], [0.0, 0.0], [Result("2 s", True)]),
    Ran("own-8-r1", ["8", "x"], [1.0, 0.0], [Result("8 s", False)]),
    Ran("own-8-y-r1", ["8", "y"], [1.0, 1.0], [None]),
    Ran("own-9-r1", ["9", "y"], [None, 1.0], [Result("9 s", None)]),
]
ANSWER = Answer(
    name="C-1",
    tornado=Tornado("C-1: it holds.", "jain", "At 3 points.", BARS),
    unit=Unit.TIME,
    published=5.0,
    turn="It holds. The smallest change is workload.senders from 2 to 5.",
    indices=[["workload.senders", "0.90 ± 0.10", "0.95 ± 0.10"]],
    curves=[CURVE],
)


def page(**changes: object) -> str:
    """A page with one question."""
    return sensitivity_html(Sensitivity("What moves it?", KEYS, [replace(ANSWER, **changes)], RAN))  # type: ignore[arg-type]


def test_each_question_has_a_tornado_its_curves_and_tables() -> None:
    text = page()
    assert text.count("<svg") == 2 and "2 of 4" in text and "a&lt;b" in text
    assert "At 3 points." in text and "smallest change is" in text and "0.95 ± 0.10" in text
    assert text.count('style="--share: 1.00"') == 1, "the longest bar of the column"
    assert f"script-src {script_source(script_text())};" in text


def test_without_its_script_the_page_is_complete() -> None:
    plain = page().replace(f"<script>{script_text()}</script>", "")
    assert "<script" not in plain and "<input" not in plain
    assert all(row.name in plain for row in RAN) and plain.count("does not hold") == 1
    assert plain.count("data-places") == 3, "one value lies outside of its range"


def test_without_numbers_there_are_tables_alone() -> None:
    none = [Bar(key, None, 0.0, ["no number", "", "", ""]) for key in KEYS]
    text = page(tornado=Tornado("jain", "jain", "No points.", none), curves=[], turn="", indices=[])
    assert "<svg" not in text and "no number" in text and "Sobol" not in text


@pytest.mark.needs("chromium")
def test_sliders_name_the_nearest_point_that_ran(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page())
    assert complaints(browse(file, tmp_path, *LOGGED)) == []
    found = steps_in(
        file,
        tmp_path,
        """
        const told = () => document.querySelector(".nearest").innerText;
        const [senders, other] = document.querySelectorAll(".sliders input");
        const move = (input, value) => { input.value = value; input.oninput(); };
        const first = told();
        move(senders, "1");
        const second = told();
        move(other, "1");
        move(senders, "0");
        return {first, second, third: told(), current: document.querySelectorAll("tr[aria-current]").length};
        """,
    )
    assert found["current"] == 1
    texts = [str(found[name]) for name in ("first", "second", "third")]
    assert "This ran: own-r1" in texts[0] and "C-1: 2 s, holds" in texts[0]
    assert "This ran: own-8-r1" in texts[1] and "C-1: 8 s, does not hold" in texts[1]
    assert "The nearest cell that ran has a<b x and not y: own-r1" in texts[2]


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("options", [("--window-size=390,900",), (DARK,)], ids=["narrow", "dark"])
def test_the_page_can_be_read(tmp_path: Path, options: tuple[str, ...]) -> None:
    file = tmp_path / "page.html"
    file.write_text(page())
    found = measured(with_probe(file, tmp_path / "probe.html"), tmp_path, *options)
    worst = found["worst"]
    assert isinstance(worst, list)
    assert worst[0][0] >= 4.5, worst
    assert (found["wide"], found["dangling"], found["loaded"]) == (0, [], [])


def test_each_find_has_its_row_and_nothing_is_markup() -> None:
    rows = [WeaknessRow("slow", "When is <b>it</b> slow?", "shares it", "fct_mean_ns is 2 s")]
    page = weaknesses_html(Weaknesses("mine", "mine on simulator: 1 shared.", rows))
    assert "When is &lt;b&gt;it&lt;/b&gt; slow?" in page and "<td>shares it</td>" in page
    assert "mine on simulator: 1 shared." in page and "<script" not in page
