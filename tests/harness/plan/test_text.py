"""Golden plans: the experiment in `golden/*.yaml`, its plan beside it."""

from pathlib import Path

import pytest

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import make_plan
from rogue.harness.plan.text import format_seconds, plan_text
from rogue.harness.testbeds import find_testbed
from rogue.harness.testbeds.simulator.features import FEATURES, KNOWN

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.yaml")), ids=lambda file: file.stem)
def test_plan_is_the_golden_one(file: Path) -> None:
    plan = make_plan(load_experiment(str(file)), find_testbed("simulator"))
    text = plan_text(plan, jobs=2).replace(", ".join(KNOWN), "<its transports>")
    text = text.replace(", ".join(f"+{feature}" for feature in FEATURES), "<its features>")
    assert text == file.with_suffix(".txt").read_text()


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
