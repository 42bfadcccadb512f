"""A published number beside a measurement."""

import math

import pytest

from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results
from rogue.reports.results.results import PublishedNumber


@pytest.mark.parametrize(
    ("value", "measured", "has_place"), [(0.9, 0.5, True), (0.0, 0.5, False), (0.9, math.inf, False)]
)
def test_a_multiple_needs_a_number_and_a_finite_measurement(
    results: Results, value: float, measured: float, has_place: bool
) -> None:
    mean = MeanInterval(measured, None, None, 1)
    number = PublishedNumber("X-1", results.measured_settings[0], "jain", value, 0.0, mean)
    assert number.has_place is has_place
