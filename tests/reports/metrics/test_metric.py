"""Contract of the metric registry: whatever is in it can be tabulated and explained."""

import math

import pytest

from rogue.reports.metrics import METRICS, TABLES
from rogue.reports.quantities import Unit
from rogue.reports.results import Results
from rogue.workloads.records import TABLES as RECORDS


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_stands_in_one_table_under_a_name_with_its_unit_and_explains_itself(name: str) -> None:
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
    name: str, results: Results, staggered: Results, pairs: Results, waiting: Results
) -> None:
    """One that may be infinite says what is lost."""
    values = [cell[name] for run in (results, staggered, pairs, waiting) for cell in run.values.values()]
    assert any(value is not None for value in values)
    assert not any(value is not None and math.isnan(value) for value in values)
    if math.inf in values:
        lost = METRICS[name].lost
        assert lost is not None
        assert METRICS[lost.metric].unit is Unit.PERCENT


def test_tables_hold_only_known_metrics() -> None:
    assert {name for _, names in TABLES for name in names} == set(METRICS)


def test_titles_tell_metrics_apart() -> None:
    assert len({metric.title for metric in METRICS.values()}) == len(METRICS)
