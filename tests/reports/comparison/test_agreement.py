"""Whether two testbeds agree, by what the experiment said beforehand."""

import json
import math
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest
from helpers.two_testbeds import SLOWER, two_testbeds

from rogue.reports.comparison.agreement import agree, agreement_text, tally, tolerances_of
from rogue.reports.pages.side_by_side import SideBySide, side_by_side
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


@pytest.mark.parametrize(
    ("one", "other", "within", "verdict"),
    [
        (100.0, 95.0, 0.05, True),
        (95.0, 100.0, 0.05, True),
        (100.0, 94.9, 0.05, False),
        (0.0, 0.0, 0.05, True),
        (0.0, 5.0, 0.05, False),
        (math.inf, math.inf, 0.05, True),
        (math.inf, 5.0, 0.05, False),
        (None, 5.0, 0.05, None),
        (math.nan, 5.0, 0.05, None),
    ],
)
def test_the_larger_mean_is_the_yardstick(
    one: float | None, other: float | None, within: float, verdict: bool | None
) -> None:
    assert agree(one, other, within) is verdict


def test_words() -> None:
    assert agreement_text(True, 0.05) == "yes, within 5 %"
    assert agreement_text(False, 0.125) == "no, within 12.5 %"
    assert agreement_text(None, 0.05) == "–"
    assert tally([True, False]) == "1 of 2 measures agree within what the experiment allows."
    assert tally([True, None]).endswith("; 1 have no value on both sides.")


def compared(directory: Path, tolerances: dict[str, object]) -> SideBySide:
    results = two_testbeds(directory)
    for each in results:
        manifest = json.loads((each.run.directory / "manifest.json").read_text())
        manifest["experiment"]["agree_within"] = tolerances
        write_manifest(each.run.directory, manifest)
    (comparison,) = side_by_side([Results(Run(each.run.directory)) for each in results])
    return comparison


def test_the_table_says_what_agrees(tmp_path: Path) -> None:
    found = compared(tmp_path, {"aggregate_bps": 0.4, "probe_p50_ns": 0.1})
    verdicts = {(row[0].text, row[1].text): row[-1].text for row in found.table.rows}
    assert found.table.head[-1].text == "Agree"
    assert SLOWER < 1 - 0.4
    assert verdicts["RoGUE", "All flows together"] == "no, within 40 %"
    assert verdicts["RoGUE", "Probe p50"] == "yes, within 10 %"
    assert verdicts["RoGUE", "Jain’s index"] == "–", "nobody said how far"
    assert "1 of 2 measures agree" in found.table.caption


def test_what_is_far_apart_but_allowed_needs_no_explanation(tmp_path: Path) -> None:
    assert "All flows together" not in str(compared(tmp_path / "wide", {"aggregate_bps": 0.6}).differences)
    assert "All flows together" in str(compared(tmp_path / "narrow", {"aggregate_bps": 0.4}).differences)


def test_what_is_no_tolerance_is_none(tmp_path: Path) -> None:
    (first, _) = two_testbeds(tmp_path)
    assert tolerances_of(first.run.manifest) == {}
    manifest = json.loads((first.run.directory / "manifest.json").read_text())
    manifest["experiment"]["agree_within"] = {"no_such": 0.1, "jain": "much", "probe_p50_ns": 0.1}
    write_manifest(first.run.directory, manifest)
    assert tolerances_of(Run(first.run.directory).manifest) == {"probe_p50_ns": 0.1}
