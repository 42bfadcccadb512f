"""What the page of an analysis is given."""

from pathlib import Path

from helpers.analysed import analysed
from helpers.searched import HillTestbed, testbed

from rogue.harness.search.analysis import sensitivity_of, ticks_of

__all__ = ["testbed"]


def test_a_page_has_each_point_once_with_its_place(tmp_path: Path, testbed: HillTestbed) -> None:
    found, variation = analysed(tmp_path, testbed)
    shown = sensitivity_of("hill", [found], variation)
    (answer,) = shown.answers
    assert (answer.name, answer.published, answer.share("workload.senders")) == ("C-1", None, 1.0)
    assert [curve.key for curve in answer.curves] == ["workload.senders"], "the other moves nothing"
    assert len(answer.curves[0].steps) == 3
    values = [tuple(each.values) for each in shown.ran]
    assert len(set(values)) == len(values) and values[0] == ("2", "1MB")
    first = shown.ran[0]
    assert first.name.startswith("own") and first.results[0] is not None and first.results[0].holds is True
    assert ticks_of(variation.keys["workload.senders"]) == [(0.0, "2"), (0.5, "5"), (1.0, "8")]
