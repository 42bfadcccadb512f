"""Which commits touched what a run depends on: the rule by which its results grow old."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

DEPENDENCES: Final = {
    "simulator/": "the simulator",
    "rogue_agent/core/": "the agent",
    "rogue_agent/drivers/": "the agent",
    "workloads/": "the workloads",
    "harness/data/": "how experiments are read",
    "harness/experiment/": "how experiments are read",
    "harness/cell/": "how cells are made",
    "reports/cells/": "the measures",
    "reports/metrics/": "the measures",
}
"""What all results depend on, and what a reader calls it."""
MEASURES: Final = tuple(place for place, name in DEPENDENCES.items() if name == "the measures")
"""What makes another verdict of the same tables."""
SIMULATOR: Final = (
    "harness/testbeds/simulator/",
    *(f"harness/testbeds/{name}.py" for name in ("base", "rows", "transfers")),
)
"""What results of the simulator depend on beside that."""
NODES: Final = (
    "harness/testbeds/", "harness/provisioning/", "playbooks/", "remote/", "rogue_agent/", "virtual/",
)  # fmt: skip
"""What results of other testbeds do."""
RULE: Final = (
    "A result is as many commits old as came after its run's own and changed "
    f"{', '.join(dict.fromkeys(DEPENDENCES.values()))}, the run's testbed, or the experiment's file. "
    "Changes of the measures alone do not count where the verdict was given by those of today."
)
COMMIT_LENGTH: Final = 12
"""Of a commit as it is shown."""
TEXT: Final = ".md"
"""Files that nothing runs."""
MOVED: Final = (("src/rogue/agent/", "rogue_agent/"), ("src/rogue/", ""))
"""Where files stood while the package was one folder, and where they stand."""


class Change(NamedTuple):
    """A commit, and the files whose content it changed."""

    commit: str
    subject: str
    paths: tuple[str, ...]


ChangesSince = Callable[[str | None], Sequence[Change] | None]
"""The commits after one, the newest first; None where nobody can say."""


def changes_of(
    changes: Sequence[Change], experiment: str, testbed: str, *, with_measures: bool = True
) -> list[Change]:
    """Return those changes that an experiment's results on a testbed depend on.

    with_measures: also what makes another verdict of the same tables.
    """
    places = (*DEPENDENCES, *(SIMULATOR if testbed == "simulator" else NODES))
    if not with_measures:
        places = tuple(place for place in places if place not in MEASURES)
    return [
        change
        for change in changes
        if any(_is_below(path, places) or path == f"experiments/{experiment}.yaml" for path in change.paths)
    ]


def changes_of_measures(changes: Sequence[Change]) -> list[Change]:
    """Return those changes after which the same tables may give another verdict."""
    return [change for change in changes if any(_is_below(path, MEASURES) for path in change.paths)]


def _is_below(path: str, places: tuple[str, ...]) -> bool:
    for old, new in MOVED:
        if path.startswith(old):
            path = new + path.removeprefix(old)
            break
    return path.startswith(places) and not path.endswith(TEXT)
