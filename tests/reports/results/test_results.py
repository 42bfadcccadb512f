"""Tests: group and measure the finished cells of a run."""

import math
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.small_runs import cell, manifest

from rogue.reports.metrics.statistics import MeanInterval, mean_interval
from rogue.reports.reading.files import read_manifest
from rogue.reports.reading.load import Run
from rogue.reports.results import Results, factor_name, settings_of
from rogue.reports.results.results import PublishedNumber


def test_settings_are_transport_and_factor_point(tmp_path: Path) -> None:
    cells = [
        cell(f"{transport}-{n}-r{k}", transport=transport, factors={"workload.senders": n}, repetition=k)
        for k in (1, 2)
        for n in (2, 4)
        for transport in ("rogue", "roce")
    ]
    write_manifest(tmp_path, manifest(cells))
    settings = settings_of(read_manifest(tmp_path).cells)
    assert [setting.title for setting in settings] == [
        "RoGUE, senders 2",
        "Native RoCE, senders 2",
        "RoGUE, senders 4",
        "Native RoCE, senders 4",
    ]
    assert [entry.id for entry in settings[0].entries] == ["rogue-2-r1", "rogue-2-r2"]


def test_variants_of_a_transport_are_settings_of_their_own(tmp_path: Path) -> None:
    cells = [cell("a"), cell("b", transport="rogue-25us", transport_name="rogue")]
    write_manifest(tmp_path, manifest(cells))
    settings = settings_of(read_manifest(tmp_path).cells)
    assert [setting.style.name for setting in settings] == ["RoGUE", "RoGUE (rogue-25us)"]
    assert {setting.registry_name for setting in settings} == {"rogue"}


def test_factor_keys_become_words() -> None:
    assert factor_name("workload.senders") == "senders"
    assert factor_name("rogue.base_rtt_floor") == "base rtt floor"


def test_mean_is_over_finished_runs_only(results: Results) -> None:
    roce = next(setting for setting in results.measured_settings if setting.transport == "roce")
    assert len(roce.entries) == 3
    per_run = results.per_run(roce, "probe_p50_ns")
    assert len(per_run) == 2
    assert results.mean(roce, "probe_p50_ns") == mean_interval(per_run)


def test_metric_that_a_transport_has_not_is_no_mean(results: Results) -> None:
    roce = next(setting for setting in results.measured_settings if setting.transport == "roce")
    assert results.mean(roce, "rtt_p50_ns") is None


def test_unsupported_transport_is_a_setting_without_results(results: Results) -> None:
    assert [setting.transport for setting in results.settings] == ["rogue", "roce", "roce+dcqcn"]
    assert [setting.transport for setting in results.measured_settings] == ["rogue", "roce"]


def test_interval_is_one_for_the_whole_run(results: Results, sweep: Results) -> None:
    assert results.interval_ns == 1_000_000_000  # 5 s of traffic
    assert sweep.interval_ns == 100_000_000  # 2 s of traffic


def test_run_without_a_finished_cell_has_no_results(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest([cell(status="pending")], status="running"))
    empty = Results(Run(tmp_path))
    assert empty.measured_settings == []
    assert empty.values == {}


@pytest.mark.parametrize("metric", ["aggregate_bps", "jain", "queue_p50_bytes"])
def test_repetitions_are_in_order(results: Results, metric: str) -> None:
    rogue = results.measured_settings[0]
    expected = [results.values[f"rogue-r{n}"][metric] for n in (1, 2, 3)]
    assert results.per_run(rogue, metric) == expected


@pytest.mark.parametrize(
    ("value", "measured", "has_place"), [(0.9, 0.5, True), (0.0, 0.5, False), (0.9, math.inf, False)]
)
def test_a_multiple_needs_a_number_and_a_finite_measurement(
    results: Results, value: float, measured: float, has_place: bool
) -> None:
    mean = MeanInterval(measured, None, None, 1)
    number = PublishedNumber("X-1", results.measured_settings[0], "jain", value, 0.0, mean)
    assert number.has_place is has_place
