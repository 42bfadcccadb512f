"""Plan every cell: whether it can run here and how long it takes."""

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rogue.harness.cell.cell import Cell, expected_bytes
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.data.yaml_text import format_path
from rogue.harness.errors import ConfigError, Problem, UsageError
from rogue.harness.experiment.choices import Scalar, TransportChoice
from rogue.harness.experiment.document import show
from rogue.harness.experiment.load import LoadedExperiment, Point
from rogue.harness.terminal import Counted, in_silence
from rogue.harness.testbeds.base import Testbed
from rogue.workloads.printable import did_you_mean

_LOGGER: Final = logging.getLogger(__name__)

CELLS_MAX: Final = 50_000
ID_LENGTH_MAX: Final = 100

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9+_.=-]+")
_LEADING: Final = re.compile(r"^[^A-Za-z0-9]")
"""A directory that begins with a dot is hidden or temporary; with a dash it looks like an option."""


def plan_cells(loaded: LoadedExperiment) -> list[Cell]:
    """Return all cells: one repetition of everything first, transports interleaved within it."""
    experiment = loaded.experiment
    count = len(loaded.points) * len(experiment.transports) * experiment.repetitions
    if count > CELLS_MAX:
        got, advice = f"{count} cells", "take repetitions, transports or factor values away"
        raise ConfigError([Problem(loaded.document.file, "", got, f"at most {CELLS_MAX}", advice)])
    names = _factor_names(tuple(loaded.factors))
    cells = [
        _cell(transport, point, repetition, names)
        for repetition in range(1, experiment.repetitions + 1)
        for point in loaded.points
        for transport in point.experiment.transports
    ]
    return _with_unique_ids(cells)


def _cell(transport: TransportChoice, point: Point, repetition: int, names: Mapping[str, str]) -> Cell:
    words = [transport.shown, *(f"{names[key]}{value}" for key, value in point.factors.items())]
    stem = _LEADING.sub("x_", "-".join(_UNSAFE.sub("_", word) for word in words))
    if len(stem) > ID_LENGTH_MAX:
        stem = f"{stem[: ID_LENGTH_MAX - 9]}-{hashlib.sha256(stem.encode()).hexdigest()[:8]}"
    return Cell(
        id=f"{stem}-r{repetition}",
        transport=transport,
        factors=point.factors,
        repetition=repetition,
        seed=point.experiment.seed + repetition - 1,
        experiment=point.experiment,
    )


def _factor_names(keys: Sequence[str]) -> dict[str, str]:
    """Return a short name per factor: the last word of its key if no other key ends in it."""
    last = Counter(key.rpartition(".")[2] for key in keys)
    return {key: word if last[word := key.rpartition(".")[2]] == 1 else key for key in keys}


def _with_unique_ids(cells: Sequence[Cell]) -> list[Cell]:
    """Number the cells whose ids collide after unsafe characters are replaced."""
    counts = Counter(cell.id.lower() for cell in cells)
    seen: Counter[str] = Counter()
    unique = []
    for cell in cells:
        key = cell.id.lower()
        seen[key] += 1
        suffix = f".{seen[key]}" if counts[key] > 1 else ""
        unique.append(replace(cell, id=cell.id + suffix))
    return unique


LIMIT_SECONDS_MIN: Final = 600.0
LIMIT_FACTOR: Final = 50.0


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell, and whether and how long the testbed can run it."""

    cell: Cell
    unsupported: str | None
    """The reason why it cannot run here; None if it can."""
    seconds: float
    """Expected time; 0 if it cannot run."""
    events: float | None = None
    """Expected events of an engine; None if it cannot run, or is not simulated."""
    stored_bytes: float = 0.0
    """Expected size of its tables; 0 if it cannot run."""

    @property
    def limit_seconds(self) -> float:
        """Return the real seconds after which the cell is stopped; generous, because machines may be busy."""
        return LIMIT_SECONDS_MIN + LIMIT_FACTOR * self.seconds


class Cost(NamedTuple):
    """The expected cost of cells."""

    seconds: float
    events: float | None
    """None if no cell is simulated."""
    stored_bytes: float


def cost_of(cells: Sequence[PlannedCell], jobs: int) -> Cost:
    """Return the expected cost with `jobs` cells at once; the time is at least that of the longest."""
    each = [planned.seconds for planned in cells]
    seconds = max(sum(each) / jobs, *each) if each else 0.0
    events = [planned.events for planned in cells if planned.events is not None]
    return Cost(seconds, sum(events) if events else None, sum(planned.stored_bytes for planned in cells))


def cheapest_first(cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    """Return one repetition of everything first, and within it the shortest cells first."""
    return sorted(cells, key=lambda planned: (planned.cell.repetition, planned.seconds))


@dataclass(frozen=True, slots=True)
class Plan:
    """An experiment, its testbed, and all cells."""

    loaded: LoadedExperiment
    testbed: Testbed
    cells: tuple[PlannedCell, ...]

    @property
    def runnable(self) -> tuple[PlannedCell, ...]:
        """Return the cells that can run here."""
        return tuple(planned for planned in self.cells if planned.unsupported is None)

    def jobs(self, wanted: int) -> int:
        """Return the number of cells at once on the testbed."""
        return self.testbed.jobs(wanted)

    def cost(self, jobs: int) -> Cost:
        """Return the expected cost of all cells."""
        return cost_of(self.runnable, self.jobs(jobs))

    def seconds(self, jobs: int) -> float:
        """Return the expected time with that many cells at once: at least that of the longest."""
        return self.cost(jobs).seconds


def make_plan(
    loaded: LoadedExperiment,
    testbed: Testbed,
    counted: Counted = in_silence,
    identifiers: Collection[str] | None = None,
) -> Plan:
    """Let the testbed plan the cells with these ids, or all of them.

    ConfigError if a transport has a wrong parameter. The result for one seed holds for all repetitions if the
    testbed allows that.
    """
    cells = [cell for cell in plan_cells(loaded) if identifiers is None or cell.id in identifiers]
    _LOGGER.debug("plans %d cells on %s", len(cells), testbed.name)
    problems = {str(problem): problem for problem in _parameter_problems(loaded, cells, testbed)}
    if problems:
        raise ConfigError(tuple(problems.values()))
    planned: list[PlannedCell] = []
    first: dict[tuple[str, tuple[Scalar, ...]], PlannedCell] = {}
    for cell in cells:
        alike = cell.transport.shown, tuple(cell.factors.values())
        if alike not in first or not testbed.is_same_for_every_seed(cell):
            first[alike] = _planned(cell, testbed)
        planned.append(replace(first[alike], cell=cell))
        counted(len(planned), len(cells), "planning cells")
    return Plan(loaded, testbed, tuple(planned))


def make_chosen_plan(
    loaded: LoadedExperiment, testbed: Testbed, counted: Counted, only_cell: str | None
) -> Plan:
    """Plan all cells, or the one with that id; UsageError if there is none."""
    if only_cell is None:
        return make_plan(loaded, testbed, counted)
    known = [cell.id for cell in plan_cells(loaded)]
    if only_cell not in known:
        advice = did_you_mean(only_cell, known, "`rogue plan` lists them")
        raise UsageError(f"--only-cell: got {only_cell!r}, expected a cell of the plan; {advice}.")
    return make_plan(loaded, testbed, counted, {only_cell})


def _parameter_problems(
    loaded: LoadedExperiment, cells: Sequence[Cell], testbed: Testbed
) -> Iterator[Problem]:
    """Yield one problem per parameter; repetitions have the same, so the first is enough."""
    for cell in cells:
        mistake = testbed.parameter_mistake(cell) if cell.repetition == cells[0].repetition else None
        if mistake is not None and mistake.network is not None:
            place = loaded.document.place(("topology",))
            yield Problem(place, "topology", mistake.network, mistake.expected, mistake.advice)
        elif mistake is not None:
            path, parameters = _parameters_of(loaded, cell, mistake)
            got = show(parameters.get(mistake.key))
            place = loaded.document.place((*path, mistake.key))
            yield Problem(place, format_path((*path, mistake.key)), got, mistake.expected, mistake.advice)


def _parameters_of(
    loaded: LoadedExperiment, cell: Cell, mistake: ParameterMistake
) -> tuple[tuple[str | int, ...], Mapping[str, Scalar]]:
    """Return the path and the values of the parameters, one of which is wrong."""
    for index, group in enumerate(cell.experiment.groups):
        if group.name == mistake.group:
            return ("traffic", index, "parameters"), group.parameters
    index = [choice.shown for choice in loaded.experiment.transports].index(cell.transport.shown)
    return ("transports", index), cell.transport.parameters


def _planned(cell: Cell, testbed: Testbed) -> PlannedCell:
    reason = testbed.unsupported(cell)
    if reason:
        return PlannedCell(cell, reason, 0.0)
    seconds, events = testbed.estimate_seconds(cell), testbed.estimate_events(cell)
    return PlannedCell(cell, None, seconds, events, expected_bytes(cell))
