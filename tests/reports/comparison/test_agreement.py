"""Tests: decide whether two testbeds agree, and say why they differ."""

import json
import math
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.two_testbeds import SLOWER, two_testbeds

from rogue.reports.comparison.agreement import Agreement, Side, agree, reasons, tolerances_of
from rogue.reports.comparison.equivalence import Runs
from rogue.reports.metrics import METRICS
from rogue.reports.pages.side_by_side import SideBySide, side_by_side
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def runs(*values: float, first_seed: int = 1) -> Runs:
    return {(number, first_seed + number): value for number, value in enumerate(values)}


ABOUT_100 = runs(99.0, 100.0, 101.0)


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        (runs(97.0, 98.0, 99.0, first_seed=9), Agreement.YES),
        (runs(89.0, 90.0, 91.0, first_seed=9), Agreement.NO),
        (runs(94.0, 95.0, 96.0, first_seed=9), Agreement.UNDECIDED),
        (runs(60.0, 100.0, 140.0, first_seed=9), Agreement.UNDECIDED),
        (runs(98.0, first_seed=9), Agreement.UNDECIDED),
        (runs(math.inf, math.inf), Agreement.NO),
        (runs(), None),
    ],
)
def test_intervals_decide_about_agreement(other: Runs, verdict: Agreement | None) -> None:
    assert agree(ABOUT_100, other, 0.05) is verdict
    assert agree(other, ABOUT_100, 0.05) is verdict


def test_nothing_ever_arriving_on_both_sides_agrees() -> None:
    assert agree(runs(math.inf, 1.0), runs(math.inf), 0.05) is Agreement.YES


def compared(directory: Path, tolerances: dict[str, object]) -> SideBySide:
    results = two_testbeds(directory)
    for each in results:
        manifest = json.loads((each.run.directory / "manifest.json").read_text())
        manifest["experiment"]["agree_within"] = tolerances
        write_manifest(each.run.directory, manifest)
    (comparison,) = side_by_side([Results(Run(each.run.directory)) for each in results])
    return comparison


def test_table_marks_agreement(tmp_path: Path) -> None:
    found = compared(tmp_path, {"aggregate_bps": 0.4, "probe_p50_ns": 0.1})
    verdicts = {(row[0].text, row[1].text): row[-1].text for row in found.table.rows}
    assert found.table.head[-1].text == "Agree"
    assert SLOWER < 1 - 0.4
    assert verdicts["RoGUE", "All flows together"] == "no, within 40 %"
    assert verdicts["RoGUE", "Probe p50"] == "yes, within 10 %"
    assert verdicts["RoGUE", "Jain’s index"] == "–", "without a tolerance"
    assert "1 of 2 measures agree" in found.table.caption


def test_difference_within_the_tolerance_needs_no_reason(tmp_path: Path) -> None:
    assert "All flows together" not in str(compared(tmp_path / "wide", {"aggregate_bps": 0.6}).differences)
    assert "All flows together" in str(compared(tmp_path / "narrow", {"aggregate_bps": 0.4}).differences)


def test_invalid_tolerances_are_ignored(tmp_path: Path) -> None:
    (first, _) = two_testbeds(tmp_path)
    assert tolerances_of(first.run.manifest) == {}
    manifest = json.loads((first.run.directory / "manifest.json").read_text())
    manifest["experiment"]["agree_within"] = {"no_such": 0.1, "jain": "much", "probe_p50_ns": 0.1}
    write_manifest(first.run.directory, manifest)
    assert tolerances_of(Run(first.run.directory).manifest) == {"probe_p50_ns": 0.1}


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    return pair(tmp_path_factory.mktemp("sides"), 2)


def pair(directory: Path, repetitions: int) -> tuple[Side, Side]:
    """RoGUE on both testbeds."""
    one, other = (
        Side(label, results, results.measured_settings[0])
        for label, results in zip(("simulator", "virtual"), two_testbeds(directory, repetitions), strict=True)
    )
    return one, other


def test_busy_processor_and_software_are_reasons(sides: tuple[Side, Side]) -> None:
    found = reasons([METRICS["aggregate_bps"]], *sides)
    assert found[0] == "On virtual the processor of h0 is busy for 97.0\u202f% of the time, which bounds it."
    assert found[-1] == (
        "On virtual the NIC (rxe0), its limiter (tc htb), its clock (the host's clock) and the switch"
        " (Linux tc) are software, slower than hardware, and their time is part of what is measured."
    )
    assert not any("simulator the" in sentence for sentence in found)


def test_drops_explain_everything_but_themselves(sides: tuple[Side, Side]) -> None:
    assert any(text.startswith("Switches drop ") for text in reasons([METRICS["aggregate_bps"]], *sides))
    assert not any(text.startswith("Switches drop ") for text in reasons([METRICS["drops_packets"]], *sides))


class Spread(Side):
    """A side whose probes take 1 to 40 ms."""

    def mean(self, metric: str) -> float | None:
        return {"probe_p10_ns": 1e6, "probe_p90_ns": 40e6}.get(metric)


def test_bimodal_probes_are_a_reason(sides: tuple[Side, Side]) -> None:
    own, other = sides
    spread = Spread("virtual", other.results, other.setting)
    (text,) = [each for each in reasons([METRICS["probe_p50_ns"]], own, spread) if "probe" in each]
    assert text.startswith(
        "On virtual one probe in ten takes less than 1\u202fms and one in ten more than 40\u202fms"
    )
    assert not any("probe" in each for each in reasons([METRICS["jain"]], own, spread))
    assert not any("probe" in each for each in reasons([METRICS["probe_p50_ns"]], own, other))


def test_single_run_is_a_reason(tmp_path: Path) -> None:
    found = reasons([METRICS["aggregate_bps"]], *pair(tmp_path, 1))
    assert "Virtual has 1 run, so the difference may be chance." in found
