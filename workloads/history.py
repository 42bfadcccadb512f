"""Which commits touched what a run depends on: the rule by which its results grow old."""

from collections.abc import Sequence
from typing import Final, NamedTuple

RULE: Final = (
    "A result is as many commits old as came after its run's own and changed the simulator, the agent's core,"
    " the workloads, the run's testbed, the measures, or the experiment's file."
)
FOLDERS: Final = (
    "simulator/",
    "rogue_agent/core/",
    "workloads/",
    "harness/cell/",
    "reports/cells/",
    "reports/metrics/",
)
TESTBEDS: Final = "harness/testbeds/"
TEXT: Final = ".md"
"""Files that nothing runs."""
MOVED: Final = (("src/rogue/agent/", "rogue_agent/"), ("src/rogue/", ""))
"""Where files stood while the package was one folder, and where they stand."""


class Change(NamedTuple):
    """A commit, and the files whose content it changed."""

    commit: str
    subject: str
    paths: tuple[str, ...]


def changes_of(changes: Sequence[Change], experiment: str, testbed: str) -> list[Change]:
    """Return those changes that an experiment's results on a testbed depend on."""
    places = (*FOLDERS, f"{TESTBEDS}{testbed}/" if testbed == "simulator" else TESTBEDS)
    return [
        change
        for change in changes
        if any(_is_below(path, places) or path == f"experiments/{experiment}.yaml" for path in change.paths)
    ]


def _is_below(path: str, places: tuple[str, ...]) -> bool:
    for old, new in MOVED:
        if path.startswith(old):
            path = new + path.removeprefix(old)
            break
    return path.startswith(places) and not path.endswith(TEXT)
