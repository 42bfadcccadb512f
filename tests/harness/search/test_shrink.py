"""A find made simpler."""

from pathlib import Path

from helpers.searched import SPACE, space_document

from rogue.harness.search.flip import Values, simplest
from rogue.harness.search.space import check_space

VALUES = {"workload.senders": 9, "workload.size": "37KB", "topology.buffer": "1MB"}


def simplified(tmp_path: Path, needed: int, budget: int = 8) -> tuple[Values, int]:
    """The simplest values of a find that needs so many senders, and how often was asked."""
    space = check_space(space_document(tmp_path, SPACE.replace("shrink: 8", f"shrink: {budget}")))
    asked: list[Values] = []

    def holds(values: Values) -> bool:
        asked.append(values)
        return int(values.get("workload.senders", 2)) >= needed

    return simplest(VALUES, space, holds), len(asked)


def test_keys_that_do_not_matter_go_back_and_the_others_shrink(tmp_path: Path) -> None:
    simple, _ = simplified(tmp_path, needed=6)
    assert simple == {"workload.senders": 7}, "1 and 5 are too few; 7 is the next that is tried"


def test_the_budget_ends_it(tmp_path: Path) -> None:
    simple, asked = simplified(tmp_path, needed=6, budget=2)
    assert asked == 2 and simple == {"workload.senders": 9, "topology.buffer": "1MB"}


def test_the_last_key_stays(tmp_path: Path) -> None:
    simple, asked = simplified(tmp_path, needed=1)
    assert len(simple) == 1 and asked == 2


def test_nothing_is_simpler_where_nothing_else_holds(tmp_path: Path) -> None:
    simple, asked = simplified(tmp_path, needed=10)
    assert simple == VALUES and asked == 7
