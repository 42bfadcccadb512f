"""The unit of a column, and columns of zeros."""

import math
from pathlib import Path

import pytest
from helpers.tiny_run import SECOND, delivery, tiny_view, transfer

from rogue.reports.metrics import METRICS
from rogue.reports.pages.tables import column_scale, columns_of, zero_in_every_run
from rogue.reports.quantities import NARROW_SPACE, Unit, number_text
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


@pytest.mark.parametrize(
    ("values", "unit", "symbol"),
    [
        ([71e3, 99_999e3], Unit.TIME, "µs"),
        ([71e3, 100_000e3], Unit.TIME, "ms"),
        ([90.6e3, 2.94e9], Unit.TIME, "ms"),  # 90.6 µs is 0.091 ms, but nothing in seconds
        ([2e9, 300e9], Unit.TIME, "s"),
        ([0.5e3, 100_000e3], Unit.TIME, "µs"),  # in milliseconds the least value would read 0
        ([0.0, -71e3, 200_000e3], Unit.TIME, "ms"),
        ([71e3, math.inf], Unit.TIME, "µs"),
        ([99_999e3], Unit.BYTES, "KB"),
        ([4.5e6, 128e6], Unit.BYTES, "MB"),
        ([45.8e6, 99e6], Unit.RATE, "Mb/s"),
        ([45.8e6, 9.2e9], Unit.RATE, "Gb/s"),
        ([0.4e6, 9.2e9], Unit.RATE, "Mb/s"),
        ([5e9, 84e9], Unit.RATE, "Gb/s"),
        ([0.01, 0.9], Unit.PERCENT, "%"),
        ([5e7], Unit.COUNT, ""),
        ([], Unit.TIME, "µs"),
        ([math.inf], Unit.TIME, "µs"),
    ],
)
def test_unit_of_a_column(values: list[float], unit: Unit, symbol: str) -> None:
    assert column_scale(values, unit).symbol == symbol


def test_numbers_are_written_in_the_unit_of_their_column() -> None:
    scale = column_scale([90.6e3, 2.94e9], Unit.TIME)
    assert number_text(90.6e3, Unit.TIME, scale) == "0.091"
    assert number_text(2.94e9, Unit.TIME, scale) == f"2{NARROW_SPACE}940"


@pytest.fixture
def quiet(tmp_path: Path) -> Results:
    """A cell that carried something and sent nothing again."""
    flow = "main/h0->h1"
    tables = {
        "flows": [transfer(flow)],
        "throughput": [delivery(flow, n * SECOND, 500) for n in (1, 2)],
    }
    return Results(Run(tiny_view(tmp_path, tables, ideal_goodput_bps=8000).run.directory))


def test_zeros_are_named_and_no_column(quiet: Results) -> None:
    shown = {column.metric.name for column in columns_of(quiet, METRICS)}
    (values,) = quiet.values.values()
    zeros = {name for name, value in values.items() if value == 0}
    assert zeros
    assert shown == {name for name, value in values.items() if value}
    assert set(zero_in_every_run(quiet)) == {METRICS[name].title for name in zeros}
