"""`rogue gate`: a run against its baseline, and what it writes for continuous integration."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import SECOND, cell, filled, manifest, transfer

from rogue.harness.commands.gate import gate
from rogue.harness.errors import ExitCode, UsageError

Shown = pytest.CaptureFixture[str]
TIMES_MS = (10.0, 10.1, 9.9, 10.0)


def run(directory: Path, times_ms: Sequence[float], first_seed: int = 1, transport: str = "rogue") -> Path:
    """A run with a cell per time, in which one transfer takes that long."""
    cells = []
    for number, time_ms in enumerate(times_ms, start=1):
        name = f"{transport}-r{number}"
        rows = filled("flows", [transfer("main/h0->h1", fct_ns=int(time_ms * SECOND / 1000))])
        write_table(directory / f"cells/{name}/flows.parquet", "flows", rows)
        cells.append(
            cell(
                name, transport=transport, transport_name="rogue", repetition=number, seed=first_seed + number
            )
        )
    write_manifest(directory, manifest(cells))
    return directory


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    return run(tmp_path / "baseline", TIMES_MS)


def test_identical_tables_pass_at_once(baseline: Path, tmp_path: Path, capsys: Shown) -> None:
    assert gate(baseline, run(tmp_path / "same", TIMES_MS)) is ExitCode.OK
    assert "All tables are identical.\n" in capsys.readouterr().out


def test_same_with_other_seeds_passes(baseline: Path, tmp_path: Path, capsys: Shown) -> None:
    other = run(tmp_path / "other", (10.1, 10.0, 10.0, 9.9), first_seed=50)
    assert gate(baseline, other) is ExitCode.OK
    assert capsys.readouterr().out.endswith("\nno regression\n")


def test_slower_transfers_are_a_regression_in_every_format(
    baseline: Path, tmp_path: Path, capsys: Shown
) -> None:
    slow = run(tmp_path / "slow", [1.2 * time_ms for time_ms in TIMES_MS])
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    code = gate(baseline, slow, junit=junit, markdown=markdown, as_json=True)
    assert code is ExitCode.REGRESSION == 9
    found = json.loads(capsys.readouterr().out)
    checks = {(each["group"], each["name"]): each for each in found["checks"]}
    mean = checks["RoGUE", "Completion, mean"]
    assert (found["failed"], mean["state"]) == (True, "failed")
    assert "instead of" in mean["text"] and "+20.0%" in mean["text"] and "higher: worse" in mean["text"]
    cases = {case.get("name"): case for case in ET.parse(junit).iter("testcase")}
    failure = cases["Completion, mean"].find("failure")
    assert failure is not None and failure.get("message") == mean["text"]
    text = markdown.read_text()
    assert text.startswith("## ❌ Regression\n")
    assert "| ❌ | RoGUE | Completion, mean | " in text
    assert "![Measures that moved](gate.svg)" in text
    assert (tmp_path / "gate.svg").read_text().count("Completion, mean") > 1


def test_faster_transfers_and_a_wide_margin_pass(baseline: Path, tmp_path: Path, capsys: Shown) -> None:
    fast = run(tmp_path / "fast", [0.5 * time_ms for time_ms in TIMES_MS])
    assert gate(baseline, fast) is ExitCode.OK
    assert "changed: RoGUE, Completion, mean: " in capsys.readouterr().out
    slow = run(tmp_path / "slow", [1.2 * time_ms for time_ms in TIMES_MS])
    assert gate(baseline, slow, margin=0.5) is ExitCode.OK


def test_missing_setting_is_a_regression(tmp_path: Path, capsys: Shown) -> None:
    both = run(tmp_path / "both", TIMES_MS)
    run(both, TIMES_MS, transport="roce")
    cells = [
        cell(f"{name}-r{number}", transport=name, transport_name=name, repetition=number, seed=1 + number)
        for name in ("rogue", "roce")
        for number in range(1, 5)
    ]
    write_manifest(both, manifest(cells))
    assert gate(both, run(tmp_path / "one", TIMES_MS)) is ExitCode.REGRESSION
    assert (
        "Native RoCE, result: the candidate has no finished cell of this setting" in capsys.readouterr().out
    )


def test_text_of_an_experiment_cannot_break_the_summaries(tmp_path: Path) -> None:
    label = "a|b<script>`"
    one = run(tmp_path / "one", TIMES_MS, transport="rogue")
    two = run(tmp_path / "two", [1.3 * time_ms for time_ms in TIMES_MS])
    for place, times_ms in ((one, TIMES_MS), (two, [1.3 * time_ms for time_ms in TIMES_MS])):
        cells = [
            cell(
                f"rogue-r{number}",
                transport=label,
                transport_name="rogue",
                repetition=number,
                seed=1 + number,
            )
            for number in range(1, len(times_ms) + 1)
        ]
        write_manifest(place, manifest(cells))
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    assert gate(one, two, junit=junit, markdown=markdown) is ExitCode.REGRESSION
    ET.parse(junit)
    text = markdown.read_text()
    assert "<script>" not in text
    assert all(line.replace("\\|", "").count("|") == 8 for line in text.splitlines() if line.startswith("|"))


def test_weaknesses_need_a_transport(baseline: Path) -> None:
    with pytest.raises(UsageError, match="got --finding or --shares, expected --transport with it"):
        gate(baseline, baseline, shares=["livelock"])
