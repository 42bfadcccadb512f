"""Tests: registries of metrics and figures."""

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
from helpers.plugin_files import registrations_taken_back

from rogue.reports.figures import FIGURES
from rogue.reports.figures.control import WindowOverTime
from rogue.reports.metrics import METRICS, TABLES, by_size, reactions
from rogue.reports.pages.tables import metric_tables
from rogue.reports.plugins import register_figure, register_metric
from rogue.reports.quantities import Unit
from rogue.reports.results import Results
from rogue.workloads.records import TABLES as RECORDS

OF_CLASSES = {name for names in by_size.TABLES.values() for name in names}
"""Not in the samples; test_by_size.py has their examples."""
OF_PACKETS = {metric.name for metric in reactions.METRICS}
"""Not in the samples; tests/harness/conformance has their examples."""


@pytest.mark.parametrize("name", METRICS)
def test_metric_is_described_and_in_one_table(name: str) -> None:
    metric = METRICS[name]
    suffix = {Unit.RATE: "_bps", Unit.TIME: "_ns", Unit.BYTES: "_bytes", Unit.PERCENT: "_share"}
    assert metric.name == name
    assert name.endswith(suffix.get(metric.unit, "")), metric.unit
    assert sum(name in names for _, names in TABLES) == 1
    assert metric.title
    assert metric.meaning.endswith(".")
    assert len(metric.meaning) > 30
    assert metric.needs
    assert set(metric.needs) <= set(RECORDS)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_a_number_or_none_on_the_samples(
    name: str, results: Results, staggered: Results, pairs: Results, waiting: Results, loaded: Results
) -> None:
    """One that may be infinite says what is lost."""
    values = [
        cell[name] for run in (results, staggered, pairs, waiting, loaded) for cell in run.values.values()
    ]
    assert any(value is not None for value in values) or name in OF_CLASSES | OF_PACKETS
    assert not any(value is not None and math.isnan(value) for value in values)
    if math.inf in values:
        lost = METRICS[name].lost
        assert lost is not None
        assert METRICS[lost.metric].unit is Unit.PERCENT


def test_tables_hold_only_known_metrics() -> None:
    assert {name for _, names in TABLES for name in names} == set(METRICS)


def test_titles_tell_metrics_apart() -> None:
    assert len({metric.title for metric in METRICS.values()}) == len(METRICS)


JAIN = METRICS["jain"]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    with registrations_taken_back():
        yield


def test_registered_metric_is_in_a_table(results: Results) -> None:
    register_metric(replace(JAIN, name="my_jain", title="Fairness of mine"))
    again = Results(results.run)
    assert any(cell["my_jain"] is not None for cell in again.values.values())
    (table,) = [table for table in metric_tables(again) if table.title == "Measures of plug-ins"]
    assert any("Fairness of mine" in str(head) for head in table.head)


def test_no_table_without_registered_metrics(results: Results) -> None:
    assert "Measures of plug-ins" not in [table.title for table in metric_tables(results)]


def test_registered_figure_comes_last() -> None:
    register_figure("mine", WindowOverTime)
    assert [*FIGURES][-1] == "mine"


def test_invalid_registrations_are_refused() -> None:
    with pytest.raises(ValueError, match="a second measure jain"):
        register_metric(JAIN)
    with pytest.raises(ValueError, match=r"as a measure, expected Metric\(name, title, unit"):
        register_metric("jain")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="as a figure, expected a subclass of ReportFigure"):
        register_figure("x", int)  # type: ignore[type-var, arg-type]
