"""The page of two runs."""

import re
from pathlib import Path

from helpers.sample_run import Sample, write_sample_run

from rogue.reports.comparison.two_runs import compare
from rogue.reports.figures import FIGURES
from rogue.reports.pages.build import write_comparison
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def test_differences_come_first_and_each_figure_has_both_runs(tmp_path: Path) -> None:
    """The same run twice: nothing differs, and every figure is there."""
    runs = [
        write_sample_run(tmp_path / name, Sample(transports=("rogue",), repetitions=5, seconds=1.0))
        for name in ("a", "b")
    ]
    first, second = (Results(Run(run)) for run in runs)
    page = tmp_path / "page.html"
    write_comparison(compare(first, second), first, second, page)
    text = page.read_text()
    assert text.index('id="compared-differences"') < text.index("<svg")
    assert re.search(r"\d+ comparisons: 0 differ\.", text)
    drawn = re.findall(r'id="compared-(\w+)-head"', text)
    assert set(drawn) <= set(FIGURES)
    assert len(drawn) > 5
    assert text.count("RoGUE (A)") > 5
    assert text.count("RoGUE (B)") > 5
    assert "A caption to paste" not in text, "it would be that of one run"
    assert "rogue figures RUN" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "page.html"]
