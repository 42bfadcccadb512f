"""Golden plans: the experiment in `golden/*.yaml`, its plan beside it."""

from pathlib import Path

import pytest
from helpers.experiments import load_text

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import make_plan
from rogue.harness.plan.text import format_seconds, plan_text
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
def test_a_run_that_ends_before_its_first_sample_is_told(
    tmp_path: Path, settings: list[str], *, is_noted: bool
) -> None:
    loaded = load_text(tmp_path, SHORT, *settings)
    text = plan_text(make_plan(loaded, find_testbed("simulator")), jobs=1)
    note = (
        "note: flows are sampled every 10 ms, a run of 3 ms never: "
        "measure with {kind: throughput, interval: 100us}\n"
    )
    assert (note in text) is is_noted


def test_a_network_that_is_not_as_asked_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bed = find_testbed("simulator")
    monkeypatch.setattr(type(bed), "differences", lambda _bed, cell: [f"{cell.experiment.name} is short"])
    text = plan_text(make_plan(load_text(tmp_path, SHORT, "transports=[roce, dctcp]"), bed), jobs=1)
    assert text.count("is short") == 1
    assert "note: roce, dctcp: short is short\n" in text
