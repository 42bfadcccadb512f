"""Pages of searches, sensitivity analyses and known weaknesses."""

import math
from pathlib import Path

import pytest
from helpers.browser import DARK, LOGGED, browse, complaints

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

TICKS = [(0.0, "1us"), (0.5, "10us"), (1.0, "100us")]


def written(number: float) -> str:
    return f"{number:g} ms"


def page() -> str:
    pictures = [
        (history_picture({"tpe": [(1, 5.0), (2, 2.0)]}, "whole_ns", is_least=True), "Worst value so far"),
        (tornado_picture([("topology.delay", 2.0, 1.0)], "jain", written, "tornado"), "mu*"),
    ]
    table = Table("Proposals", ("Proposal", "Value", "workload.size"), [("1", "<b>", "37KB")])
    shown = [(picture, caption) for picture, caption in pictures if picture is not None]
    part = Part("Proposals of tpe", ["A sentence."], shown, [table])
    return search_html(SearchPage("Search", "Who breaks?", ["No finding."], [part], "A footer."))


def test_a_page_has_its_sentences_pictures_and_tables_and_nothing_is_markup() -> None:
    text = page()
    assert text.count("<svg") == 2 and "No finding." in text and "&lt;b&gt;" in text and "A footer." in text
    assert "<script" not in text and "http" not in text.replace("http-equiv", "").replace(
        "http://www.w3.org", ""
    )


def test_the_history_has_each_sampler_and_no_infinite_value() -> None:
    values = {"tpe": [(1, 5.0), (2, None), (3, 2.0)], "random": [(1, math.inf), (2, 900.0)]}
    text = str(history_picture(values, "whole_ns", is_least=True))
    assert "tpe, furthest so far" in text and "random, furthest so far" in text
    assert history_picture({"tpe": [(1, math.inf), (2, None)]}, "whole_ns", is_least=True) is None


def test_a_response_has_its_values_the_published_line_and_both_verdicts() -> None:
    points = [(0.0, 1.0, True), (0.5, 4.0, False), (1.0, 9.0, False)]
    text = str(response_picture([Response("topology.delay", TICKS, points)], 2.0, written, "c"))
    assert all(word in text for word in ("topology.delay", "10us", "8 ms", "published", "the claim holds"))
    assert "it does not" in text and "a point that ran" not in text
    far = response_picture([Response("k", TICKS, [(0.0, 1.0, None), (1.0, 900.0, None)])], None, written, "c")
    assert "100 ms" in str(far) and "a point that ran" in str(far) and "published" not in str(far)
    assert response_picture([Response("k", TICKS, [])], 2.0, written, "c") is None


def test_a_tornado_leaves_keys_without_a_number_out() -> None:
    bars = [("topology.delay", 2.0, 1.0), ("workload.size", math.nan, math.nan)]
    assert "topology.delay" in str(tornado_picture(bars, "jain", written, "t"))
    assert tornado_picture(bars[1:], "jain", written, "t") is None


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_the_page_can_be_read(tmp_path: Path, options: tuple[str, ...]) -> None:
    file = tmp_path / "search.html"
    file.write_text(page())
    assert complaints(browse(file, tmp_path, *LOGGED, *options)) == []
