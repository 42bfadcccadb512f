"""A value that a factor hides is said."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text

from rogue.harness.experiment.load import hidden_values

FACTORS = SMALL + "factors: {workload.size: [2MB, 4MB]}\n"


def test_a_base_value_that_is_never_run_is_said_with_its_line(tmp_path: Path) -> None:
    (words,) = hidden_values(load_text(tmp_path, FACTORS))
    assert (
        words == f"{tmp_path}/experiment.yaml:3: workload.size: '1MB' is never run: factors has '2MB', '4MB'"
    )


@pytest.mark.parametrize(
    "settings",
    [
        ("workload.size=8MB",),
        ("factors={workload.size: [1MB, 2MB]}",),
        ("factors={workload.size: [3MB]}",),
        ("factors={workload.verb_size: [64KiB, 1MB]}",),
        ("scale=quick",),
    ],
)
def test_what_is_run_or_was_asked_for_is_not_said(tmp_path: Path, settings: tuple[str, ...]) -> None:
    assert list(hidden_values(load_text(tmp_path, FACTORS, *settings))) == []
