"""The page of known weaknesses."""

from rogue.reports.pages.search_pages import Weaknesses, WeaknessRow, weaknesses_html


def test_each_find_has_its_row_and_nothing_is_markup() -> None:
    rows = [WeaknessRow("slow", "When is <b>it</b> slow?", "shares it", "fct_mean_ns is 2 s")]
    page = weaknesses_html(Weaknesses("mine", "mine on simulator: 1 shared.", rows))
    assert "When is &lt;b&gt;it&lt;/b&gt; slow?" in page and "<td>shares it</td>" in page
    assert "mine on simulator: 1 shared." in page and "<script" not in page
