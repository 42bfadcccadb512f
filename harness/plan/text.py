"""The plan as text: the same whatever the terminal."""

from collections.abc import Sequence
from math import ceil

from harness.columns import align
from harness.plan.plan import Plan, PlannedCell


def plan_text(plan: Plan, jobs: int) -> str:
    """A table of cells, what cannot run and why, and the expected time."""
    experiment = plan.loaded.experiment
    factors = tuple(plan.loaded.factors)
    rows = [("cell", "transport", *factors, "repetition", "seed", "expected")]
    rows += [_row(planned, factors) for planned in plan.cells]
    title = f"{experiment.title or experiment.name}, on {plan.testbed.name}"
    networks = dict.fromkeys(point.experiment.topology.described() for point in plan.loaded.points)
    parts = [title, *networks, "", *align(rows), ""]
    parts += _reasons(plan)
    count = len(plan.runnable)
    parts.append(f"{count} of {len(plan.cells)} cells can run, {format_seconds(plan.seconds(jobs))} expected")
    return "\n".join(parts) + "\n"


def _row(planned: PlannedCell, factors: Sequence[str]) -> tuple[str, ...]:
    cell = planned.cell
    expected = "cannot run" if planned.unsupported else format_seconds(planned.seconds)
    values = [str(cell.factors[key]) for key in factors]
    return (cell.id, cell.transport.shown, *values, str(cell.repetition), str(cell.seed), expected)


def _reasons(plan: Plan) -> list[str]:
    """Each reason once, with the transports it concerns."""
    found: dict[str, dict[str, None]] = {}
    for planned in plan.cells:
        if planned.unsupported:
            found.setdefault(planned.unsupported, {})[planned.cell.transport.shown] = None
    lines = [f"cannot run: {', '.join(transports)}: {reason}" for reason, transports in found.items()]
    return [*lines, ""] if lines else []


def format_seconds(seconds: float) -> str:
    """A duration in one or two units, rounded up."""
    whole = ceil(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{ceil(whole / 60)} min"
    hours, rest = divmod(ceil(whole / 60), 60)
    return f"{hours} h {rest} min"
