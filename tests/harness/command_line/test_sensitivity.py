"""What belongs together on the command line of a screening."""

import pytest

from rogue.harness.command_line.search import sensitivity
from rogue.harness.errors import UsageError


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "got no experiment"),
        ({"experiment": "quickstart"}, "got no --vary"),
        ({"claims": ["X-2-10"], "resume": "results/x"}, "expected the run alone"),
    ],
)
def test_a_screening_needs_an_experiment_and_a_file_or_a_run(given: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sensitivity(**given)  # type: ignore[arg-type]
