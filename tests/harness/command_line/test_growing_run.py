"""What does not belong together on the command line of a search or a screening is one sentence."""

from pathlib import Path

import pytest

from rogue.harness.command_line.search import check_start
from rogue.harness.errors import UsageError

FILE = Path("space.yml")


def test_a_run_that_goes_on_stands_alone() -> None:
    check_start("search", "", ("--space", None), Path("run"), is_changed=False)
    words = "--resume: got an experiment or options that change it, expected the search alone"
    with pytest.raises(UsageError, match=words):
        check_start("search", "mine.yml", ("--space", None), Path("run"), is_changed=True)


@pytest.mark.parametrize(
    ("experiment", "file", "missing"), [("", FILE, "experiment"), ("mine.yml", None, "--vary")]
)
def test_a_start_needs_an_experiment_and_its_file(experiment: str, file: Path | None, missing: str) -> None:
    check_start("sensitivity", "mine.yml", ("--vary", FILE), None, is_changed=True)
    with pytest.raises(
        UsageError, match=rf"sensitivity: got no {missing}, expected an experiment and --vary"
    ):
        check_start("sensitivity", experiment, ("--vary", file), None, is_changed=True)
