"""Cells: transport x factor point x repetition, in the order in which they run."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.errors import ConfigError, Problem
from rogue.harness.experiment.choices import TransportChoice
from rogue.harness.experiment.load import LoadedExperiment, Point

CELLS_MAX: Final = 50_000
ID_LENGTH_MAX: Final = 100

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9+_.=-]+")
_LEADING: Final = re.compile(r"^[^A-Za-z0-9]")
"""A directory that begins with a dot is hidden or temporary; with a dash it looks like an option."""


def plan_cells(loaded: LoadedExperiment) -> list[Cell]:
    """All cells: one repetition of everything first, transports interleaved within it."""
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
    """Short name per factor: the last word of its key where that is enough to tell factors apart."""
    last = Counter(key.rpartition(".")[2] for key in keys)
    return {key: word if last[word := key.rpartition(".")[2]] == 1 else key for key in keys}


def _with_unique_ids(cells: Sequence[Cell]) -> list[Cell]:
    """Number the cells whose ids would collide once unsafe characters are replaced."""
    counts = Counter(cell.id.lower() for cell in cells)
    seen: Counter[str] = Counter()
    unique = []
    for cell in cells:
        key = cell.id.lower()
        seen[key] += 1
        suffix = f".{seen[key]}" if counts[key] > 1 else ""
        unique.append(replace(cell, id=cell.id + suffix))
    return unique
