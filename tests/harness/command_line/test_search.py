"""What belongs together on the command line of a search."""

import pytest

from rogue.harness.command_line.search import search
from rogue.harness.errors import UsageError


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "got no experiment"),
        ({"experiment": "quickstart"}, "got no --space"),
        ({"experiment": "quickstart", "resume": "results/x"}, "expected the search alone"),
        ({"is_plan": True, "resume": "results/x"}, "expected the search alone"),
        ({"has_baseline": False, "resume": "results/x"}, "expected the search alone"),
    ],
)
def test_a_search_needs_an_experiment_and_a_space_or_a_run(given: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        search(**given)  # type: ignore[arg-type]
