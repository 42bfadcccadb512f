"""The age of a verdict, in words."""

import pytest

from rogue.reports.board.age import Age
from rogue.workloads.history import Change
from rogue.workloads.rechecks import Recheck

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


@pytest.mark.parametrize(
    ("changes", "is_same", "text"),
    [
        ((), True, "up to date, seed 1 gave the same tables at b"),
        ((CHANGE,), True, "stale by 1 commit since seed 1 gave the same tables at b"),
        ((CHANGE,), False, "stale by 1 commit, seed 1 gave other tables at b"),
        (None, True, "age unknown"),
    ],
)
def test_what_a_later_run_found_in_words(
    changes: tuple[Change, ...] | None, is_same: bool, text: str
) -> None:
    assert Age(changes, Recheck("b", (1,), is_same)).text == text
