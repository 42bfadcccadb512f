"""Links under a figure that hold its picture and its data."""

from urllib.parse import unquote

import pandas as pd
from helpers.painted import painted

from rogue.reports.export.figure_files import LINE_MAX, downloads
from rogue.reports.pages.page import figure_sections
from rogue.reports.results import Results


def test_links_hold_the_files() -> None:
    data = pd.DataFrame({"panel": ["a, b", "=1"], "mark": "line", "y": [1.5, 2.0]})
    picture, table = downloads("run-figure", '<svg a="1">µ & #</svg>', data)
    assert (picture.file_name, table.file_name) == ("run-figure.svg", "run-figure.csv")
    assert unquote(picture.href.partition(",")[2]) == '<svg a="1">µ & #</svg>'
    assert unquote(table.href.partition(",")[2]) == 'panel,mark,y\n"a, b",line,1.5\n\'=1,line,2.0\n'
    assert not set("<>\"'&# \n") & set(picture.href + table.href)
    assert table.text == "what is drawn (CSV)"


def test_long_lines_are_thinned_and_the_link_says_so() -> None:
    data = pd.DataFrame({"series": "a", "x": range(1000)})
    _, table = downloads("f", "<svg/>", data)
    rows = unquote(table.href.partition(",")[2]).splitlines()[1:]
    assert table.text == f"what is drawn (CSV, {len(rows)} of 1000 points)"
    assert len(rows) <= LINE_MAX + 1
    assert (rows[0], rows[-1]) == ("a,0", "a,999")


def test_every_figure_of_the_page_has_them_and_they_are_small(results: Results) -> None:
    """The page was as large when it held one picture as matplotlib writes it."""
    drawn = [section for section in figure_sections("run1", results) if not section.skipped]
    assert drawn
    for section in drawn:
        picture, table = section.downloads
        svg = unquote(picture.href.partition(",")[2])
        assert "var(" not in svg
        assert section.title in svg
        assert painted(svg).getextrema()[0] < 128, "something is dark"
        assert unquote(table.href.partition(",")[2]).count("\n") > 1
        assert section.paste is not None
        assert section.caption.replace("\u202f", " ") in section.paste.plain.replace("\u202f", " ")
        assert len(picture.href) < 1.5 * len(str(section.picture))
