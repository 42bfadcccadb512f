"""The page of a search."""

import math

from rogue.reports.pages.search_pages import Row, Searched, furthest_so_far, search_html

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
