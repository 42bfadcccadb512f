"""Numbers of the report against the same straight from the files, with pandas and no code of the package."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rogue.reports.pages.build import build
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def cells_of(results: Results) -> list[str]:
    return list(results.values)


def read(results: Results, cell: str, table: str) -> pd.DataFrame:
    return pd.read_parquet(results.run.directory / "cells" / cell / f"{table}.parquet")


def test_completion_times_of_many_pairs(pairs: Results) -> None:
    for cell in cells_of(pairs):
        flows = read(pairs, cell, "flows")
        times = flows["fct_ns"].astype(float).where(flows["status"] == "ok", np.inf)
        for name, rows in (("long", flows["size_bytes"] >= 65_536), ("short", flows["size_bytes"] < 65_536)):
            for percent in (50, 90):
                expected = times[rows].quantile(percent / 100, interpolation="inverted_cdf")
                assert pairs.values[cell][f"{name}_fct_p{percent}_ns"] == expected
        assert pairs.values[cell]["fct_mean_ns"] == times.mean()
        assert pairs.values[cell]["unfinished_share"] == (flows["status"] != "ok").sum() / len(flows)


def test_levels_of_flows_that_come_and_go(staggered: Results) -> None:
    """Second by second from the samples: 1 to 4, 5 to 8 and 9 to 12 s are the settled parts."""
    (cell,) = cells_of(staggered)
    rows = read(staggered, cell, "throughput")
    rows["second"] = (rows["t_ns"] - 1) // 10**9
    rates = rows.pivot_table(index="second", columns="flow_id", values="delivered_bytes", aggfunc="sum") * 8
    together = rates.loc[5:7]
    means = together.mean()
    values = staggered.values[cell]
    assert values["level_jain"] == pytest.approx(means.sum() ** 2 / (2 * (means**2).sum()))
    assert values["level_most_over_least"] == pytest.approx(means.max() / means.min())
    share = staggered.run.manifest.cells[0].number("ideal_goodput_bps")
    assert share is not None
    assert values["level_deviation_share"] == pytest.approx(
        (together / (share / 2) - 1).abs().to_numpy().max()
    )
    settled = [rates.loc[1:3].sum(axis=1), together.sum(axis=1), rates.loc[9:11].sum(axis=1)]
    assert values["level_aggregate_share"] == pytest.approx(min(part.mean() for part in settled) / share)


@pytest.mark.parametrize("cell", ["rogue-r1", "roce-r2"])
def test_shares_of_single_flows_and_percentiles(results: Results, cell: str) -> None:
    rows = read(results, cell, "throughput")
    ideal = json.loads((results.run.directory / "manifest.json").read_text())["cells"][0]["facts"]
    totals = np.sort(rows.groupby("flow_id")["delivered_bytes"].sum().to_numpy() * 8 / 5)
    values = results.values[cell]
    assert values["flow_mean_bps"] == pytest.approx(totals.mean())
    assert values["worst_flow_share"] == pytest.approx(totals[0] / (ideal["ideal_goodput_bps"] / 8))
    middle = np.median(totals) / (ideal["ideal_goodput_bps"] / 8)
    assert values["flow_median_share"] == pytest.approx(middle)
    assert values["flow_p50_share"] == pytest.approx(totals[3] / (ideal["ideal_goodput_bps"] / 8))
    probes = read(results, cell, "latency")["rtt_ns"].dropna()
    for percent in (10, 90):
        assert values[f"probe_p{percent}_ns"] == probes.quantile(percent / 100, interpolation="inverted_cdf")


def test_errors_of_the_estimate(results: Results) -> None:
    samples = read(results, "rogue-r1", "rtt")
    samples = samples[samples["accepted"]]
    error = samples["rtt_ns"] - samples["true_rtt_ns"]
    for percent in (10, 50, 90):
        quantile = {"q": percent / 100, "interpolation": "inverted_cdf"}
        assert results.values["rogue-r1"][f"rtt_error_p{percent}_ns"] == error.quantile(**quantile)  # type: ignore[arg-type]
        assert results.values["rogue-r1"][f"rtt_p{percent}_ns"] == samples["rtt_ns"].quantile(**quantile)  # type: ignore[arg-type]


def test_run_of_schema_version_1_had_no_events(sample_run: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(sample_run, tmp_path / "old")
    path = directory / "manifest.json"
    old = {**json.loads(path.read_text()), "schema_version": 1}
    del old["checksum"]
    path.write_text(json.dumps(old))
    results = Results(Run(directory))
    view = next(iter(results.views.values()))
    assert view.table("events") is None
    assert view.failed_flow_ids == ()
    assert results.run.problems == []


def test_runs_of_different_kinds_share_a_page(
    staggered: Results, pings: Results, recovering: Results, tmp_path: Path
) -> None:
    """Each run keeps its own headlines, figures and claims."""
    copies = [
        Path(shutil.copytree(results.run.directory, tmp_path / name))
        for name, results in (("staggered", staggered), ("pings", pings), ("recovering", recovering))
    ]
    text = build(copies).read_text()
    assert text.count("Jain’s index of the worst level is") == 1
    assert text.count("a transfer takes 4.4") == 1
    assert "qp_failed 1 time, first at" in text.replace("\u202f", " ")
