"""Conditions and measured values of the sample run."""

import importlib

import pytest
from helpers.small_runs import Measured

from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results, Setting

EVALUATE = importlib.import_module("rogue.reports.claims.evaluate")


@pytest.fixture
def own_conditions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every run the claim's own conditions, except in a test with `real_conditions`."""
    if "real_conditions" not in request.fixturenames:
        monkeypatch.setattr(EVALUATE, "other_experiment", lambda _claim, _manifest: None)
        monkeypatch.setattr(EVALUATE, "other_conditions", lambda _manifest: None)


@pytest.fixture
def real_conditions() -> None:
    """Mark a test of the conditions."""


@pytest.fixture
def reduced_scale(own_conditions: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every run the scale `quick` of the claim's own experiment."""
    reason = "this run has the scale quick instead of paper"
    monkeypatch.setattr(EVALUATE, "other_conditions", lambda _manifest: reason)


@pytest.fixture
def measured(results: Results, monkeypatch: pytest.MonkeyPatch) -> Measured:
    """Return the measured values of the sample run by transport, for a test to set."""
    values: Measured = {}

    def mean(_self: Results, setting: Setting, _metric: str) -> MeanInterval | None:
        return values.get(setting.transport)

    monkeypatch.setattr(Results, "mean", mean)
    return values
