"""`rogue gate`: a run against its baseline, and what it writes for continuous integration."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import SECOND, cell, failed_record, filled, manifest, transfer

from rogue.harness.commands.gate import gate
from rogue.harness.errors import ExitCode, UsageError
from rogue.reports.comparison.checks import Check, State, answer, junit_text

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


def fail_cells(run: Path, count: int) -> Path:
    """Let the first cells of a run fail; their tables stay."""
    known = json.loads((run / "manifest.json").read_text())
    for each in known["cells"][:count]:
        failed = failed_record(each["id"])
        each |= {"status": "failed", "failure_kind": failed.failure_kind, "message": failed.message}
    write_manifest(run, known)
    return run


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    return run(tmp_path / "baseline", TIMES_MS)


def test_identical_tables_pass_at_once(baseline: Path, tmp_path: Path, capsys: Shown) -> None:
    assert gate(baseline, run(tmp_path / "same", TIMES_MS)) is ExitCode.OK
    assert "All tables are identical.\n" in capsys.readouterr().out


def test_same_with_other_seeds_passes(baseline: Path, tmp_path: Path, capsys: Shown) -> None:
    other = run(tmp_path / "other", (10.1, 10.0, 10.0, 9.9), first_seed=50)
    assert gate(baseline, other) is ExitCode.OK
    last = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(r"no regression found; \d+ of \d+ checks are not decided", last)


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
        "Native RoCE without PFC, result: the candidate has no finished cell of this setting"
        in capsys.readouterr().out
    )


def test_failed_cells_are_a_regression(baseline: Path, tmp_path: Path, capsys: Shown) -> None:
    assert gate(baseline, fail_cells(run(tmp_path / "failed", TIMES_MS), 1)) is ExitCode.REGRESSION
    text = "RoGUE, cells: 3 of 4 cells finished in the candidate, 4 of 4 in the baseline"
    assert text in capsys.readouterr().out


def test_fewer_runs_with_a_number_are_a_regression_unless_that_may_be_chance(
    tmp_path: Path, capsys: Shown
) -> None:
    eight = run(tmp_path / "eight", TIMES_MS * 2)
    for lost, code in ((1, ExitCode.OK), (7, ExitCode.REGRESSION)):
        fewer = run(tmp_path / f"without-{lost}", TIMES_MS * 2)
        for number in range(1, lost + 1):
            (fewer / f"cells/rogue-r{number}/flows.parquet").unlink()
        write_manifest(fewer, json.loads((fewer / "manifest.json").read_text()) | {"files": {}})
        assert gate(eight, fewer) is code
        assert (
            f"{8 - lost} of 8 runs have this number in the candidate" in capsys.readouterr().out
            or code is ExitCode.OK
        )


def test_identical_runs_without_a_result_do_not_pass(tmp_path: Path) -> None:
    runs = [fail_cells(run(tmp_path / name, TIMES_MS), 4) for name in ("one", "other")]
    with pytest.raises(UsageError, match="that finished in both"):
        gate(*runs)


def test_runs_without_a_test_do_not_pass(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="got 1 run per setting, expected enough for a test"):
        gate(run(tmp_path / "one", [10.0]), run(tmp_path / "slow", [100.0]))


def test_answer_says_what_is_not_decided() -> None:
    passed, undecided = (Check("RoGUE", "Queue", state, "") for state in (State.PASSED, State.OPEN))
    assert answer([passed]) == "no regression"
    assert answer([passed, undecided]) == "no regression found; 1 of 2 checks is not decided"


def test_each_group_is_one_suite() -> None:
    checks = [Check(group, "x", State.PASSED, "") for group in ("b", "a", "b")]
    suites = ET.fromstring(junit_text(checks, "gate").partition("\n")[2])
    assert [(each.get("name"), each.get("tests")) for each in suites] == [("a", "1"), ("b", "2")]


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


def test_options_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    nothing = tmp_path / "no-run"
    with pytest.raises(UsageError, match="expected --transport with it"):
        gate(nothing, nothing, findings=["livelock"])
    with pytest.raises(UsageError, match=r"got --shares live-lock, expected one of .*livelock"):
        gate(nothing, nothing, transport="roce", shares=["live-lock"])
    with pytest.raises(UsageError, match="got --shares livelock, expected one of dead-zone"):
        gate(nothing, nothing, transport="roce", findings=["dead-zone"], shares=["livelock"])
