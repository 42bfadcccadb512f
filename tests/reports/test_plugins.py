"""Measures and figures of somebody else's, in a report of sample runs."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from helpers.plugin_files import registrations_taken_back

from rogue.reports.figures import FIGURES
from rogue.reports.figures.control import WindowOverTime
from rogue.reports.metrics import METRICS
from rogue.reports.pages.tables import metric_tables
from rogue.reports.plugins import register_figure, register_metric
from rogue.reports.results import Results

JAIN = METRICS["jain"]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    with registrations_taken_back():
        yield


def test_a_measure_has_a_column_in_a_table_of_its_own(results: Results) -> None:
    register_metric(replace(JAIN, name="my_jain", title="Fairness of mine"))
    again = Results(results.run)
    assert any(cell["my_jain"] is not None for cell in again.values.values())
    (table,) = [table for table in metric_tables(again) if table.title == "Measures of plug-ins"]
    assert any("Fairness of mine" in str(head) for head in table.head)


def test_without_any_there_is_no_such_table(results: Results) -> None:
    assert "Measures of plug-ins" not in [table.title for table in metric_tables(results)]


def test_a_figure_comes_last() -> None:
    register_figure("mine", WindowOverTime)
    assert [*FIGURES][-1] == "mine"


def test_what_is_no_such_thing_is_refused() -> None:
    with pytest.raises(ValueError, match="a second measure jain"):
        register_metric(JAIN)
    with pytest.raises(ValueError, match=r"as a measure, expected Metric\(name, title, unit"):
        register_metric("jain")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="as a figure, expected a subclass of ReportFigure"):
        register_figure("x", int)  # type: ignore[type-var, arg-type]
