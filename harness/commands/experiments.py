"""Experiments by file or by name."""

from pathlib import Path
from typing import Final

import harness
from harness.experiment.load import LoadedExperiment, load_experiment

DIRECTORY: Final = Path(harness.__file__).parent.parent / "experiments"
"""Experiments that come with this checkout."""


def find_experiment(named: str) -> str:
    """The file meant: one that exists, else the experiment of that name that comes with this checkout."""
    if Path(named).exists() or "\0" in named:
        return named
    own = DIRECTORY / f"{named}.yaml"
    if not own.is_relative_to(DIRECTORY) or not own.is_file():
        return named
    working_directory = Path.cwd()
    return str(own.relative_to(working_directory) if own.is_relative_to(working_directory) else own)


def load_named(named: str, settings: tuple[str, ...]) -> LoadedExperiment:
    """Find, read and check an experiment."""
    return load_experiment(find_experiment(named), settings)


def experiment_files() -> list[Path]:
    """Every experiment that comes with this checkout."""
    return sorted(DIRECTORY.rglob("*.yaml"))
