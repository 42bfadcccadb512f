"""Print a plan, and check its time and space against the budget."""

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from shutil import disk_usage
from typing import Final

from rogue.harness.cell.cell import cell_sets, repeats, slowest_recovery_ns, unpublished_parameters
from rogue.harness.cell.parameter_sets import DEFAULT_VARIANT, VARIANT
from rogue.harness.errors import UsageError
from rogue.harness.experiment.load import hidden_values
from rogue.harness.plan.plan import Cost, Plan, PlannedCell, cost_of
from rogue.harness.terminal import align

_COUNTS: Final = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e3, "thousand"), (1.0, ""))
_SIZES: Final = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "bytes"))


def plan_text(plan: Plan, jobs: int) -> str:
    """Return a table of cells, what cannot run and why, and the expected time."""
    experiment = plan.loaded.experiment
    factors = tuple(plan.loaded.factors)
    rows = [("cell", "transport", *factors, "repetition", "seed", "expected")]
    rows += [_row(planned, factors) for planned in plan.cells]
    title = f"{experiment.title or experiment.name}, on {plan.testbed.name}"
    parts = [title, *_networks(plan), "", *align(rows), ""]
    parts += _reasons(plan)
    parts += [f"note: {words}" for words in _notes(plan)]
    count = len(plan.runnable)
    parts.append(f"{count} of {len(plan.cells)} cells can run, {format_cost(plan.cost(jobs))} expected")
    return "\n".join(parts) + "\n"


def plan_content(plan: Plan, jobs: int, notes: Sequence[str]) -> dict[str, object]:
    """Return a plan as a document; further `notes` are added."""
    experiment = plan.loaded.experiment
    return {
        "experiment": experiment.name,
        "title": experiment.title or experiment.name,
        "file": plan.loaded.document.file,
        "testbed": plan.testbed.name,
        "networks": _networks(plan),
        "cells": [_cell_content(planned) for planned in plan.cells],
        "notes": [*_notes(plan), *notes],
        "jobs": jobs,
        "expected": plan.cost(jobs)._asdict(),
    }


def _cell_content(planned: PlannedCell) -> dict[str, object]:
    cell = planned.cell
    return {
        "id": cell.id,
        "transport": cell.transport.shown,
        "factors": dict(cell.factors),
        "repetition": cell.repetition,
        "seed": cell.seed,
        "unsupported": planned.unsupported,
        "seconds": planned.seconds,
        "events": planned.events,
        "stored_bytes": planned.stored_bytes,
    }


def _networks(plan: Plan) -> list[str]:
    return list(dict.fromkeys(point.experiment.topology.described() for point in plan.loaded.points))


def _notes(plan: Plan) -> list[str]:
    return [
        *hidden_values(plan.loaded),
        *_outside_controls(plan),
        *_switch_controls(plan),
        *_never_sampled(plan),
        *_sets_by_line_rate(plan),
        *_unpublished(plan),
        *_short_runs(plan),
        *_single_runs(plan),
        *_differences(plan),
    ]


def _row(planned: PlannedCell, factors: Sequence[str]) -> tuple[str, ...]:
    cell = planned.cell
    expected = "cannot run" if planned.unsupported else format_seconds(planned.seconds)
    values = [str(cell.factors[key]) for key in factors]
    return (cell.id, cell.transport.shown, *values, str(cell.repetition), str(cell.seed), expected)


def _reasons(plan: Plan) -> list[str]:
    """Return each reason once, with its transports."""
    found: dict[str, dict[str, None]] = {}
    for planned in plan.cells:
        if planned.unsupported:
            found.setdefault(planned.unsupported, {})[planned.cell.transport.shown] = None
    lines = [f"cannot run: {', '.join(transports)}: {reason}" for reason, transports in found.items()]
    return [*lines, ""] if lines else []


def _outside_controls(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each transport whose NIC control is from a plug-in."""
    transports = (group.transport for planned in plan.cells for group in planned.cell.groups)
    for name in dict.fromkeys(transports):
        if name.outside is not None:
            _, made_as = name.outside
            yield f"{name} has {made_as}: the expected time is that of the engine's own controls"


def _switch_controls(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each switch control from a plug-in."""
    requested = (each for planned in plan.cells for each in planned.cell.topology.switch_controls)
    for each in {each.name: each for each in requested}.values():
        does = "replaces their own marking" if each.entry.is_aqm else "chooses routes"
        yield f"switches have {each.name} from outside, which {does}: the expected time is that without it"


def _never_sampled(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each run that ends before the first sample of its flows."""
    times = {
        (cell.timing.limit_ns, cell.timing.throughput_interval_ns)
        for cell in (planned.cell for planned in plan.runnable)
        if cell.experiment.measures("throughput") or cell.experiment.measures("control")
    }
    for limit_ns, interval_ns in sorted(times):
        if limit_ns < interval_ns:
            often = f"flows are sampled every {interval_ns / 1e6:g} ms, a run of {limit_ns / 1e6:g} ms never"
            yield f"{often}: measure with {{kind: throughput, interval: 100us}}"


def _sets_by_line_rate(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each set of parameters that the hosts' line rate chose."""
    found: dict[tuple[str, str, float], None] = {}
    for cell in (planned.cell for planned in plan.runnable if planned.cell.repetition == 1):
        rate_gbps = cell.topology.host_rate_max_bps / 1e9
        for transport, written, chosen in cell_sets(cell):
            if VARIANT not in written:
                found[transport, chosen.name, rate_gbps] = None
    for transport, name, rate_gbps in found:
        keeps = f"`{VARIANT}: {DEFAULT_VARIANT}` keeps those of its paper"
        yield f"{transport}: hosts have {rate_gbps:g} Gb/s, so it has the parameters of {name}; {keeps}"


def _unpublished(plan: Plan) -> Iterator[str]:
    """Yield a sentence for defaults that no source has for the hosts' line rate, with their transports."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for cell in (planned.cell for planned in plan.runnable if planned.cell.repetition == 1):
        if words := unpublished_parameters(cell):
            found.setdefault(words, {})[cell.transport.shown] = None
    for (sentence, remedy), transports in found.items():
        yield f"{', '.join(transports)}: the parameters are {sentence}; {remedy}"


RECOVERIES_MIN: Final = 10


def _short_runs(plan: Plan) -> Iterator[str]:
    """Yield a sentence if flows that never pause end within few recovery times of their control."""
    found: dict[str, float] = {}
    longest_ns = 0
    for cell in (planned.cell for planned in plan.runnable if planned.cell.repetition == 1):
        recovery_ns = slowest_recovery_ns(cell) if repeats(cell) else None
        if recovery_ns and cell.timing.traffic_ns < RECOVERIES_MIN * recovery_ns:
            times, shown = cell.timing.traffic_ns / recovery_ns, cell.transport.shown
            found[shown] = min(times, found.get(shown, times))
            longest_ns = max(longest_ns, recovery_ns)
    if found:
        counts = ", ".join(f"{times:.2g} of {shown}" for shown, times in found.items())
        enough = f"flows that last {RECOVERIES_MIN * longest_ns / 1e6:.3g} ms show more than a start"
        yield f"the run lasts fewer than {RECOVERIES_MIN} recovery times of a control ({counts}): {enough}"


def _single_runs(plan: Plan) -> Iterator[str]:
    """Yield a sentence if transports are compared by one run each."""
    experiment = plan.loaded.experiment
    if experiment.repetitions == 1 and len({planned.cell.transport.shown for planned in plan.runnable}) > 1:
        yield "one run of each transport says nothing about chance: repeat with `--set repetitions=4`"


def _differences(plan: Plan) -> Iterator[str]:
    """Yield each difference between the testbed's network and the requested one, with its transports."""
    found: dict[str, dict[str, None]] = {}
    for planned in plan.runnable:
        for words in plan.testbed.differences(planned.cell):
            found.setdefault(words, {})[planned.cell.transport.shown] = None
    for words, transports in found.items():
        yield f"{', '.join(transports)}: {words}"


def format_cost(cost: Cost) -> str:
    """Return time, events if there are any, and size."""
    words = [format_seconds(cost.seconds)]
    words += [f"{_rounded(cost.events, _COUNTS)} events"] if cost.events is not None else []
    return f"{', '.join(words)} and {format_size(cost.stored_bytes)}"


def format_size(size_bytes: float) -> str:
    """Return a size in a decimal unit."""
    return _rounded(size_bytes, _SIZES)


def _rounded(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Return a value with two digits, in the largest unit in which it is at least 1."""
    size, unit = next((each for each in units if value >= each[0]), units[-1])
    return (
        f"{value / size:.2g} {unit}".rstrip() if value < 100 * size else f"{value / size:.0f} {unit}".rstrip()
    )


def format_seconds(seconds: float) -> str:
    """Return a duration in one or two units, rounded up."""
    whole = ceil(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{ceil(whole / 60)} min"
    hours, rest = divmod(ceil(whole / 60), 60)
    return f"{hours} h {rest} min"


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
    """Return the limits that the cells should exceed; None if there are none."""
    cost, free_bytes = cost_of(_runnable(cells), jobs), disk_usage(_nearest_directory(out)).free
    limits = {
        f"at most {format_seconds(SECONDS_MAX)}": cost.seconds > SECONDS_MAX,
        f"at most {format_size(BYTES_MAX)}": cost.stored_bytes > BYTES_MAX,
        f"no more than the {format_size(free_bytes)} that are free at {out}": cost.stored_bytes > free_bytes,
    }
    return " and ".join(limit for limit, is_beyond in limits.items() if is_beyond) or None


def _runnable(cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    return [planned for planned in cells if planned.unsupported is None]


def _nearest_directory(place: Path) -> Path:
    """Return the place, or its nearest parent that is a directory."""
    place = place.absolute()
    return next((each for each in (place, *place.parents) if each.is_dir()), Path("/"))
