"""Numbers of claims beside what was measured."""

from dataclasses import replace

import pytest
from matplotlib.colors import to_hex

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.factor_sweep import FactorSweep
from rogue.reports.figures.published_beside import MULTIPLE_MAX, ROWS_MAX, PublishedBeside
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results
from rogue.reports.results.results import PublishedNumber


def number(results: Results, value: float, measured: float, **changes: object) -> PublishedNumber:
    """Return a claim's number of the run's first setting, and a measurement of it."""
    mean = MeanInterval(measured, measured, measured, 3)
    made = PublishedNumber("X-1", results.measured_settings[0], "jain", value, 0.02, mean)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def held(results: Results, monkeypatch: pytest.MonkeyPatch) -> Results:
    """The sample run, for numbers of a test's own."""
    monkeypatch.setattr(results, "published", ())
    return results


def marks(results: Results) -> list[float]:
    with figure_look():
        (axis,) = PublishedBeside().draw(results).axes
    return [float(line.get_xdata()[0]) for line in axis.get_lines() if len(line.get_xdata()) == 1]


def test_each_mark_is_a_multiple_and_the_band_is_the_tolerance(published: Results) -> None:
    means = [results_mean(published, name) for name in ("rogue", "roce")]
    assert marks(published) == pytest.approx([means[0] / 0.9, means[1] / 0.5])
    with figure_look():
        (axis,) = PublishedBeside().draw(published).axes
    bands = [(bar.get_x(), bar.get_width()) for bar in axis.patches]
    assert bands == [pytest.approx((1 - 0.02 / 0.9, 0.04 / 0.9)), pytest.approx((0.96, 0.08))]


def results_mean(results: Results, transport: str) -> float:
    setting = next(each for each in results.measured_settings if each.transport == transport)
    mean = results.mean(setting, "jain")
    assert mean is not None
    return mean.mean


def test_what_is_far_away_stands_at_the_edge(held: Results) -> None:
    held.published = [number(held, 1.0, 5_000.0), number(held, 1.0, 0.0)]
    assert marks(held) == [MULTIPLE_MAX, 1 / MULTIPLE_MAX]


def test_zero_and_what_never_came_have_no_row(held: Results) -> None:
    held.published = [number(held, 0.0, 1.0), number(held, 1.0, float("inf"))]
    assert PublishedBeside().skipped_because(held) is not None


def test_more_rows_than_anybody_reads_are_counted(held: Results) -> None:
    held.published = [number(held, 1.0, 1.1)] * (ROWS_MAX + 2)
    assert len(marks(held)) == ROWS_MAX
    assert PublishedBeside().omission(held) == " Not drawn: 2 more numbers."


def test_a_sweep_has_the_number_at_its_point(sweep: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty diamond at four senders in the transport's colour, in a panel of its own measure."""
    setting = next(each for each in sweep.measured_settings if dict(each.factors)["workload.senders"] == "4")
    metric = "queue_max_bytes"
    made = [number(sweep, 7_000.0, 1.0, setting=setting, metric=metric)]
    monkeypatch.setattr(sweep, "published", made)
    with figure_look():
        axes = FactorSweep().draw(sweep).axes
    diamonds = [
        (line.get_xdata()[0], line.get_ydata()[0], to_hex(line.get_markeredgecolor()))
        for axis in axes
        for line in axis.get_lines()
        if line.get_marker() == "D" and line.get_markerfacecolor() == "none"
    ]
    assert diamonds == [(4.0, 7_000.0, setting.style.colour)]
