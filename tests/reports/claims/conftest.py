"""Made-up runs to evaluate claims with."""

import importlib

import pytest

from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results, Setting

EVALUATE = importlib.import_module("rogue.reports.claims.evaluate")


@pytest.fixture
def own_conditions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run has the claim's own conditions, but where a test is about them."""
    if "real_conditions" not in request.fixturenames:
        monkeypatch.setattr(EVALUATE, "not_own_because", lambda _claim, _manifest: None)


@pytest.fixture
def real_conditions() -> None:
    """Marks a test that asks for the conditions."""


@pytest.fixture
def measured(results: Results, monkeypatch: pytest.MonkeyPatch) -> dict[str, MeanInterval | None]:
    """The measured values of the made-up run, by transport."""
    values: dict[str, MeanInterval | None] = {}

    def mean(_self: Results, setting: Setting, _metric: str) -> MeanInterval | None:
        return values.get(setting.transport)

    monkeypatch.setattr(Results, "mean", mean)
    return values
