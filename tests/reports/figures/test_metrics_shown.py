"""Which figure shows a metric."""

import pytest

from rogue.reports.figures import FIGURES
from rogue.reports.figures.captions import SHOWN_BY_NAME, figures_showing
from rogue.reports.metrics import METRICS
from rogue.reports.results import Results


def test_figures_are_those_of_the_registry_and_metrics_exist() -> None:
    assert set(SHOWN_BY_NAME) <= set(FIGURES)
    for begins in SHOWN_BY_NAME.values():
        for begin in begins:
            assert any(name.startswith(begin) for name in METRICS), begin


@pytest.mark.parametrize(
    ("metric", "first"),
    [("probe_p50_ns", "probe_latency"), ("jain", "flow_shares"), ("aggregate_bps", "throughput")],
)
def test_best_figure_first(results: Results, metric: str, first: str) -> None:
    found = [name for name in figures_showing(metric, results) if name not in {"bars", "factor_sweep"}]
    assert found[0] == first


def test_a_sweep_shows_its_headlines(sweep: Results) -> None:
    assert figures_showing("aggregate_share", sweep)[0] == "factor_sweep"
    assert figures_showing("drops_packets", sweep) == []
