"""Golden plans: the experiment in `golden/*.yaml`, its plan beside it."""

from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.command_line import rogue
from helpers.experiments import SMALL, cell_of, load_text, write_experiment

from rogue.harness.errors import UsageError
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan import text
from rogue.harness.plan.plan import PlannedCell, make_plan
from rogue.harness.plan.text import check_budget, exceeded, format_seconds, plan_text
from rogue.harness.testbeds import find_testbed

GOLDEN = Path(__file__).parent / "golden"
SHORT = """\
name: short
topology: {kind: star, hosts: 3, rate: 10Gbps}
workload: {kind: incast, senders: 2, size: 1MB, repeat_for: 3ms}
transports: [roce]
measure: [throughput]
"""


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.yaml")), ids=lambda file: file.stem)
def test_plan_is_the_golden_one(file: Path) -> None:
    plan = make_plan(load_experiment(str(file)), find_testbed("simulator"))
    assert plan_text(plan, jobs=2) == file.with_suffix(".txt").read_text()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.2, "1 s"),
        (119, "119 s"),
        (119.5, "2 min"),
        (7199, "120 min"),
        (7200, "2 h 0 min"),
        (9000, "2 h 30 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(("settings", "is_noted"), [([], True), (["workload.repeat_for=10ms"], False)])
def test_run_shorter_than_the_sampling_interval_is_noted(
    tmp_path: Path, settings: list[str], *, is_noted: bool
) -> None:
    loaded = load_text(tmp_path, SHORT, *settings)
    text = plan_text(make_plan(loaded, find_testbed("simulator")), jobs=1)
    note = (
        "note: flows are sampled every 10 ms, a run of 3 ms never: "
        "measure with {kind: throughput, interval: 100us}\n"
    )
    assert (note in text) is is_noted


def test_differences_of_the_network_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bed = find_testbed("simulator")
    monkeypatch.setattr(type(bed), "differences", lambda _bed, cell: [f"{cell.experiment.name} is short"])
    text = plan_text(make_plan(load_text(tmp_path, SHORT, "transports=[roce, dctcp]"), bed), jobs=1)
    assert text.count("is short") == 1
    assert "note: roce, dctcp: short is short\n" in text


DAY = 24 * 3600.0


class Disk(NamedTuple):
    free: int


@pytest.fixture(autouse=True)
def terabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "disk_usage", lambda _place: Disk(10**12))


def planned(
    tmp_path: Path, seconds: float, stored_bytes: float, unsupported: str | None = None
) -> list[PlannedCell]:
    return [PlannedCell(cell_of(tmp_path), unsupported, seconds, 5e9, stored_bytes)] * 2


def check(tmp_path: Path, seconds: float, stored_bytes: float, jobs: int = 1) -> None:
    check_budget(planned(tmp_path, seconds, stored_bytes), jobs, tmp_path / "results" / "not there yet")


def test_a_day_and_twenty_gigabytes_are_fine(tmp_path: Path) -> None:
    assert exceeded(planned(tmp_path, DAY / 2, 10e9), 1, tmp_path) is None
    assert exceeded(planned(tmp_path, DAY, 10e9), 2, tmp_path) is None


def test_more_than_a_day_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        check(tmp_path, DAY, 1e6)
    cost = "got 2 cells that should take 48 h 0 min, 10 billion events and 2 MB"
    assert (
        str(caught.value) == f"run: {cost}, expected at most 24 h 0 min; take some away, or add --allow-long."
    )


def test_larger_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="and 22 GB, expected at most 20 GB; take"):
        check(tmp_path, 1.0, 11e9)


def test_more_than_the_disk_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "disk_usage", lambda _place: Disk(3_000_000))
    with pytest.raises(UsageError, match=r"expected no more than the 3 MB that are free at .*not there yet;"):
        check(tmp_path, 1.0, 2e6)


def test_unsupported_cells_cost_nothing(tmp_path: Path) -> None:
    assert exceeded(planned(tmp_path, 1e9, 1e15), 1, tmp_path) is not None
    assert exceeded(planned(tmp_path, 1e9, 1e15, "no"), 1, tmp_path) is None


LONG = ("--set", "workload.repeat_for=1000000s", "--set", "measure=[{kind: throughput, interval: 1000s}]")


def test_long_run_needs_allow_long(tmp_path: Path) -> None:
    write_experiment(tmp_path, SMALL.replace("probe:", "# "))
    done = rogue(tmp_path, "run", "experiment.yaml", *LONG)
    assert (done.code, done.out) == (2, ""), done.err
    assert "add --allow-long" in done.err
    assert not (tmp_path / "results").exists()
    planned = rogue(tmp_path, "plan", "experiment.yaml", *LONG)
    assert planned.code == 0, planned.err
    assert "trillion events" in planned.out
    assert "note: `rogue run` expects at most 24 h 0 min" in planned.out


def test_allow_long_starts_a_long_run(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    words = ("--testbed", "fake", "--set", "repetitions=10", "--allow-long")
    assert rogue(tmp_path, "run", "experiment.yaml", *words).code == 0


def test_resume_command_repeats_allow_long(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    words = ("--testbed", "fake", "--set", "transports=[{name: rogue, label: throws}]", "--allow-long")
    done = rogue(tmp_path, "run", "experiment.yaml", *words)
    assert "--only-failed --allow-long" in done.err, done.err
