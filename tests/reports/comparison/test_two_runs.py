"""Tests: comparison of two runs."""

from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.small_runs import cell, manifest

from rogue.reports.comparison.equivalence import Verdict
from rogue.reports.comparison.two_runs import HEAD, compare, conclusions, other_differences, shown
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

Values = dict[str, list[float | None]]


def results(directory: Path, values: dict[str, Values], **changes: object) -> Results:
    """A run of these transports, with one value of each metric per repetition."""
    directory.mkdir()
    cells = [
        cell(f"{transport}-r{number}", transport=transport, transport_name=transport, repetition=number)
        for transport, metrics in values.items()
        for number in range(1, len(next(iter(metrics.values()))) + 1)
    ]
    write_manifest(directory, manifest(cells, **changes))
    made = Results(Run(directory))
    known = {
        f"{transport}-r{number}": {name: each[number - 1] for name, each in metrics.items()}
        for transport, metrics in values.items()
        for number in range(1, len(next(iter(metrics.values()))) + 1)
    }
    vars(made)["values"] = {key: dict.fromkeys(METRIC_NAMES) | one for key, one in known.items()}
    return made


METRIC_NAMES = ("aggregate_bps", "jain", "probe_p50_ns", "drops_packets")
SLOW: Values = {"aggregate_bps": [8e9, 8.1e9, 8.2e9, 8.3e9], "probe_p50_ns": [50e3, 51e3, 52e3, 53e3]}
FAST: Values = {"aggregate_bps": [9e9, 9.1e9, 9.2e9, 9.3e9], "probe_p50_ns": [60e3, 61e3, 62e3, 63e3]}


@pytest.fixture(autouse=True)
def few_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    from rogue.reports.comparison import two_runs as module

    monkeypatch.setattr(module, "METRICS", {name: module.METRICS[name] for name in METRIC_NAMES})


def test_verdict_depends_on_the_better_direction(tmp_path: Path) -> None:
    first = results(tmp_path / "a", {"rogue": SLOW, "roce": SLOW})
    second = results(tmp_path / "b", {"rogue": FAST, "dctcp": SLOW})
    compared = compare(first, second)
    assert [(each.setting.transport, each.metric.name) for each in compared] == [
        ("rogue", "aggregate_bps"), ("rogue", "probe_p50_ns"),
    ]  # fmt: skip
    rates, probes = (each.row for each in compared)
    assert len(rates) == len(HEAD)
    assert [word.replace("\u202f", " ") for word in rates[2:5]] == ["8.15 Gb/s", "9.15 Gb/s", "+12.3%"]
    assert (rates[6], rates[7], probes[7]) == ("0.000", "higher: better", "higher: worse")


def test_few_and_identical_runs(tmp_path: Path) -> None:
    one: Values = {"aggregate_bps": [8e9], "jain": [1.0]}
    other: Values = {"aggregate_bps": [9e9], "jain": [1.0]}
    first, second = results(tmp_path / "a", {"rogue": one}), results(tmp_path / "b", {"rogue": other})
    compared = compare(first, second)
    assert [each.verdict for each in compared] == [Verdict.TOO_FEW, Verdict.IDENTICAL]
    assert conclusions(compared) == [
        "2 comparisons: 0 differ.",
        "1 is identical, run by run.",
        "1 has not enough runs: a test needs 2 runs on each side, 4 if they are equal; set repetitions.",
    ]


def test_shown_p_is_the_one_that_decides(tmp_path: Path) -> None:
    one: Values = {"aggregate_bps": [8e9, 8.1e9, 8.2e9, 8.3e9], "jain": [0.90, 0.92, 0.93, 0.91]}
    other: Values = {"aggregate_bps": [9e9, 9.1e9, 9.25e9, 9.3e9], "jain": [0.93, 0.92, 0.90, 0.91]}
    compared = compare(results(tmp_path / "a", {"rogue": one}), results(tmp_path / "b", {"rogue": other}))
    rates, _ = compared
    assert HEAD[6] == "adjusted p"
    assert rates.p == pytest.approx(2 * (rates.difference.p_apart or 0))
    assert (rates.row[6], rates.content["p_adjusted"]) == (f"{rates.p:.3f}", rates.p)
    assert conclusions(compared)[-1] == "On average at most 1 % of the rows that differ do so by chance."


def test_means_are_those_of_the_pairs(tmp_path: Path) -> None:
    one: Values = {"aggregate_bps": [8e9, 8.1e9, 8.2e9, 8.3e9, 99e9]}
    other: Values = {"aggregate_bps": [9e9, 9.1e9, 9.2e9, 9.3e9, None]}
    compared = compare(results(tmp_path / "a", {"rogue": one}), results(tmp_path / "b", {"rogue": other}))
    assert [each.means for each in compared] == [(8.15e9, 9.15e9)]


def test_difference_from_zero_has_a_unit(tmp_path: Path) -> None:
    none: Values = {"drops_packets": [0.0, 0.0, 0.0, 0.0]}
    some: Values = {"drops_packets": [7.0, 8.0, 9.0, 10.0]}
    first, second = results(tmp_path / "a", {"rogue": none}), results(tmp_path / "b", {"rogue": some})
    (dropped,) = compare(first, second)
    assert dropped.row[2:5] == ("0", "8.5", "+8.5")
    assert dropped.row[7] == "higher: worse"


def test_shown_comparisons_are_differences_and_headlines(tmp_path: Path) -> None:
    mixed: Values = {**SLOW, "drops_packets": [1.0, 5.0, 2.0, 6.0]}
    other: Values = {**FAST, "drops_packets": [2.0, 5.0, 1.0, 7.0]}
    first, second = results(tmp_path / "a", {"rogue": mixed}), results(tmp_path / "b", {"rogue": other})
    compared = compare(first, second)
    names = [each.metric.name for each in shown(compared, first, everything=False)]
    assert names == ["aggregate_bps", "probe_p50_ns"]
    assert shown(compared, first, everything=True) == compared


def test_other_differences_of_runs(tmp_path: Path) -> None:
    at_10 = {"name": "x", "title": "X", "topology": {"rate_bps": 10**10, "kind": "star"}}
    at_25 = {"name": "y", "title": "Y", "topology": {"rate_bps": 25 * 10**9, "kind": "star"}, "probe": None}
    first = results(tmp_path / "a", {"rogue": SLOW}, experiment=at_10)
    second = results(tmp_path / "b", {"rogue": FAST}, experiment=at_25, testbed="virtual")
    assert other_differences(first, second) == [
        "testbed: simulator in A, virtual in B", "topology.rate_bps: 10000000000 in A, 25000000000 in B",
    ]  # fmt: skip
    assert other_differences(first, first) == []


def test_both_runs_have_the_unit_that_suits_the_smaller_value(tmp_path: Path) -> None:
    first = results(tmp_path / "a", {"rogue": {"probe_p50_ns": [71e3], "jain": [1.0]}})
    second = results(tmp_path / "b", {"rogue": {"probe_p50_ns": [7.2e6], "jain": [1.0]}})
    row = next(each.row for each in compare(first, second) if each.metric.name == "probe_p50_ns")
    assert [word.replace("\u202f", " ") for word in row[2:4]] == ["71.0 µs", "7 200 µs"]
