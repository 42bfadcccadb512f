"""Contract of the metric registry: whatever is in it can be tabulated and explained."""

import math

import pytest

from rogue.reports.metrics import METRICS, TABLES
from rogue.reports.quantities import Unit
from rogue.reports.results import Results
from rogue.workloads.records import TABLES as RECORDS


@pytest.mark.parametrize("name", METRICS)
class TestEveryMetric:
    def test_is_registered_under_its_name(self, name: str) -> None:
        assert METRICS[name].name == name

    def test_explains_itself_in_a_sentence(self, name: str) -> None:
        metric = METRICS[name]
        assert metric.title
        assert metric.meaning.endswith(".")
        assert len(metric.meaning) > 30

    def test_needs_tables_that_exist(self, name: str) -> None:
        assert set(METRICS[name].needs) <= set(RECORDS)
        assert METRICS[name].needs

    def test_name_ends_with_its_unit(self, name: str) -> None:
        suffix = {Unit.RATE: "_bps", Unit.TIME: "_ns", Unit.BYTES: "_bytes", Unit.PERCENT: "_share"}
        unit = METRICS[name].unit
        assert name.endswith(suffix.get(unit, "")), unit

    def test_stands_in_one_table(self, name: str) -> None:
        assert sum(name in names for _, names in TABLES) == 1

    def test_is_a_number_or_none_on_the_samples(
        self, name: str, results: Results, staggered: Results, pairs: Results, waiting: Results
    ) -> None:
        values = [cell[name] for run in (results, staggered, pairs, waiting) for cell in run.values.values()]
        assert any(value is not None for value in values)
        assert not any(value is not None and math.isnan(value) for value in values)

    def test_says_what_is_lost_where_it_may_be_infinite(
        self, name: str, results: Results, staggered: Results, pairs: Results, waiting: Results
    ) -> None:
        values = [cell[name] for run in (results, staggered, pairs, waiting) for cell in run.values.values()]
        if math.inf in values:
            lost = METRICS[name].lost
            assert lost is not None
            assert METRICS[lost.metric].unit is Unit.PERCENT


def test_tables_hold_only_known_metrics() -> None:
    assert {name for _, names in TABLES for name in names} == set(METRICS)


def test_titles_tell_metrics_apart() -> None:
    assert len({metric.title for metric in METRICS.values()}) == len(METRICS)
