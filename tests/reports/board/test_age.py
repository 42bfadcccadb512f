"""The age of a verdict, in words."""

import pytest

from rogue.reports.board.age import Age
from rogue.workloads.history import Change

CHANGE = Change("c1", "engine: another queue", ("simulator/x",))


@pytest.mark.parametrize(
    ("changes", "text", "is_stale"),
    [
        (None, "age unknown", False),
        ((), "up to date", False),
        ((CHANGE,), "stale by 1 commit", True),
        ((CHANGE, CHANGE), "stale by 2 commits", True),
    ],
)
def test_age_in_words(changes: tuple[Change, ...] | None, text: str, is_stale: bool) -> None:
    assert (Age(changes).text, Age(changes).is_stale) == (text, is_stale)
