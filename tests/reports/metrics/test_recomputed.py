"""Tests: measures of the sample runs, computed again from their tables with plain pandas."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from rogue.reports.results import Results

SECONDS = 5
"""Duration of the sample run."""


def read(results: Results, cell: str, table: str) -> pd.DataFrame:
    return pd.read_parquet(results.run.directory / "cells" / cell / f"{table}.parquet")


def percentile(values: pd.Series, percent: float) -> float:
    return float(np.quantile(values.to_numpy(dtype=float), percent / 100, method="inverted_cdf"))


def of_finished(flows: pd.DataFrame, column: str) -> pd.Series:
    """Return a column in which a transfer that did not complete has an infinite value."""
    return flows[column].astype(float).where(flows["status"] == "ok", np.inf).fillna(np.inf)


Recompute = Callable[[pd.DataFrame], float]
OF_FLOWS: dict[str, Recompute] = {
    "fct_mean_ns": lambda flows: of_finished(flows, "fct_ns").mean(),
    "fct_max_ns": lambda flows: of_finished(flows, "fct_ns").max(),
    **{
        f"fct_p{percent}_ns": lambda flows, p=percent: percentile(of_finished(flows, "fct_ns"), p)
        for percent in (50, 95, 99)
    },
    **{
        f"slowdown_p{percent}": lambda flows, p=percent: percentile(of_finished(flows, "slowdown"), p)
        for percent in (50, 95, 99)
    },
    "slowdown_mean": lambda flows: of_finished(flows, "slowdown").mean(),
    **{
        f"long_fct_p{percent}_ns": lambda flows, p=percent: percentile(
            of_finished(flows[flows["size_bytes"] >= 65_536], "fct_ns"), p
        )
        for percent in (50, 90)
    },
    "unfinished_share": lambda flows: (flows["status"] != "ok").mean(),
}
OF_TABLES: dict[str, tuple[str, Recompute]] = {
    "aggregate_bps": ("throughput", lambda rows: rows["delivered_bytes"].sum() * 8 / SECONDS),
    "flow_mean_bps": ("throughput", lambda rows: totals_of(rows).mean() * 8 / SECONDS),
    "jain": ("throughput", lambda rows: totals_of(rows).sum() ** 2 / (8 * (totals_of(rows) ** 2).sum())),
    **{
        f"probe_p{percent}_ns": ("latency", lambda rows, p=percent: percentile(probes_of(rows), p))
        for percent in (10, 50, 90, 99)
    },
    "probe_loss_share": ("latency", lambda rows: (rows["status"] != "ok").mean()),
    **{
        f"queue_p{percent}_bytes": (
            "queues",
            lambda rows, p=percent: percentile(bottleneck_of(rows)["bytes"], p),
        )
        for percent in (50, 99)
    },
    "queue_max_bytes": ("queues", lambda rows: bottleneck_of(rows)["max_bytes"].max()),
    "drops_packets": ("queues", lambda rows: rows["drops"].sum()),
}


def totals_of(throughput: pd.DataFrame) -> pd.Series:
    return throughput.groupby("flow_id")["delivered_bytes"].sum().astype(float)


def bottleneck_of(queues: pd.DataFrame) -> pd.DataFrame:
    return queues[queues["port"] == "s0->h8"]


def probes_of(latency: pd.DataFrame) -> pd.Series:
    return latency["rtt_ns"].astype(float).fillna(np.inf)


@pytest.mark.parametrize("metric", OF_FLOWS)
@pytest.mark.parametrize("kind", ["results", "random_transfers", "pairs"])
def test_completion_recomputed(kind: str, metric: str, request: pytest.FixtureRequest) -> None:
    results: Results = request.getfixturevalue(kind)
    for cell in list(results.values)[:3]:
        expected = OF_FLOWS[metric](read(results, cell, "flows"))
        assert results.values[cell][metric] == pytest.approx(expected), cell


@pytest.mark.parametrize("metric", OF_TABLES)
@pytest.mark.parametrize("cell", ["rogue-r1", "roce-r2"])
def test_samples_recomputed(results: Results, cell: str, metric: str) -> None:
    table, recompute = OF_TABLES[metric]
    assert results.values[cell][metric] == pytest.approx(recompute(read(results, cell, table)))
