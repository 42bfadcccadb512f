"""The time and space that a run may take without --allow-long."""

from collections.abc import Sequence
from pathlib import Path
from shutil import disk_usage
from typing import Final

from rogue.harness.errors import UsageError
from rogue.harness.plan.plan import PlannedCell, cost_of
from rogue.harness.plan.text import format_cost, format_seconds, format_size

SECONDS_MAX: Final = 24 * 3600.0
BYTES_MAX: Final = 20e9
ALLOW: Final = "--allow-long"


def check_budget(cells: Sequence[PlannedCell], jobs: int, out: Path) -> None:
    """UsageError if the cells should take more than a day, more than 20 GB, or more than the disk has."""
    beyond = exceeded(cells, jobs, out)
    if beyond:
        cost = format_cost(cost_of(_runnable(cells), jobs))
        got = f"run: got {len(_runnable(cells))} cells that should take {cost}"
        raise UsageError(f"{got}, expected {beyond}; take some away, or add {ALLOW}.")


def exceeded(cells: Sequence[PlannedCell], jobs: int, out: Path) -> str | None:
    """What of it the cells should exceed; None if nothing."""
    cost, free_bytes = cost_of(_runnable(cells), jobs), disk_usage(_standing(out)).free
    limits = {
        f"at most {format_seconds(SECONDS_MAX)}": cost.seconds > SECONDS_MAX,
        f"at most {format_size(BYTES_MAX)}": cost.stored_bytes > BYTES_MAX,
        f"no more than the {format_size(free_bytes)} that are free at {out}": cost.stored_bytes > free_bytes,
    }
    return " and ".join(limit for limit, is_beyond in limits.items() if is_beyond) or None


def _runnable(cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    return [planned for planned in cells if planned.unsupported is None]


def _standing(place: Path) -> Path:
    """The nearest directory that is there already."""
    place = place.absolute()
    return next((each for each in (place, *place.parents) if each.is_dir()), Path("/"))
