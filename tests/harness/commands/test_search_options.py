"""What `rogue search` and `rogue sensitivity` refuse before they start."""

import pytest

from rogue.harness.commands.search import search
from rogue.harness.commands.sensitivity import sensitivity
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


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "got no experiment"),
        ({"experiment": "quickstart"}, "got no --vary"),
        ({"claims": ["X-2-10"], "resume": "results/x"}, "--resume: got"),
    ],
)
def test_a_screening_needs_an_experiment_and_a_file_or_a_run(given: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sensitivity(**given)  # type: ignore[arg-type]
