"""Slowdowns by the groups of a trace."""

from pathlib import Path

import numpy as np
from helpers.tiny_run import tiny_view, transfer

from rogue.reports.drawing.marks import figure_look
from rogue.reports.figures.group_slowdowns import GroupSlowdowns, slowdowns
from rogue.reports.results import Results


def rows(group: str, *found: float | None) -> list[dict[str, object]]:
    """Transfers that alone take a microsecond each."""
    return [
        transfer(
            f"{group}/h{number}->h9",
            group=group,
            slowdown=value,
            fct_ns=None if value is None else int(1000 * value),
            status="ok" if value else "unfinished",
        )
        for number, value in enumerate(found)
    ]


def test_each_group_has_a_panel_and_its_words(tmp_path: Path) -> None:
    flows = rows("main.web", 1.0, 2.0, 6.0) + rows("main.db", 1.5, None)
    view = tiny_view(tmp_path, {"flows": flows})
    assert {group: values.tolist() for group, values in slowdowns(view).items()} == {
        "main.web": [1.0, 2.0, 6.0], "main.db": [1.5, np.inf],
    }  # fmt: skip
    results = Results(view.run)
    with figure_look():
        assert [axis.get_title(loc="left") for axis in GroupSlowdowns().draw(results).axes] == ["db", "web"]
    words = GroupSlowdowns().describe(results).replace("\u202f", " ")
    assert "web: 3 transfers of 3 completed; completion time 3 µs on average; slowdown 2.00 at the" in words
    assert "db: 1 transfer of 2 completed; completion time none on average; slowdown 1.50 at the" in words


def test_groups_of_traffic_are_no_groups_of_a_trace(tmp_path: Path) -> None:
    results = Results(tiny_view(tmp_path, {"flows": rows("storage", 1.0) + rows("main", 2.0)}).run)
    assert GroupSlowdowns().skipped_because(results) == GroupSlowdowns().missing


def test_the_largest_groups_are_shown(tmp_path: Path) -> None:
    flows = [row for number in range(9) for row in rows(f"main.g{number}", *[1.0] * (number + 1))]
    results = Results(tiny_view(tmp_path, {"flows": flows}).run)
    assert len(GroupSlowdowns().draw(results).axes) == 6
    assert "g2:" not in GroupSlowdowns().describe(results)
    assert "g8: 9 transfers of 9" in GroupSlowdowns().describe(results)
