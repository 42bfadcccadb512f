"""Find experiments by file or name, and print their plan."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.document import read_text
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.plugins.source import plugins_at
from rogue.workloads.printable import did_you_mean
from rogue.workloads.shipped import shipped

DIRECTORY: Final = shipped("experiments")
"""Experiments that come with this package."""
SUFFIX: Final = ".yaml"
OTHER_SUFFIX: Final = ".yml"
"""Of files that are no experiments to be listed: spaces, what they start from, and finds."""


def find_experiment(named: str) -> str:
    """Return the file if it exists, else the shipped experiment of that name.

    Wherever one is, `irn-paper/figure-7`, `irn-paper/figure-7.yaml` and `experiments/irn-paper/figure-7.yaml`
    mean the same one. What ends in `.yml`, such as a space or a find, is named with its ending.
    """
    if _exists(Path(named)):
        return named
    inside = named.removeprefix(f"{DIRECTORY.name}/").removesuffix(SUFFIX)
    own = DIRECTORY / (inside if inside.endswith(OTHER_SUFFIX) else f"{inside}{SUFFIX}")
    if ".." in own.parts or not own.is_relative_to(DIRECTORY) or not _exists(own):
        return named
    working_directory = Path.cwd()
    return str(own.relative_to(working_directory) if own.is_relative_to(working_directory) else own)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def load_named(named: str, settings: tuple[str, ...], plugins: Sequence[Path] = ()) -> LoadedExperiment:
    """Find, read and check an experiment after loading plug-ins: installed ones, these files, its own."""
    sources = plugins_at(plugins)
    with _suggested(named):
        return load_experiment(find_experiment(named), settings, sources)


def read_named(named: str) -> tuple[str, str]:
    """Find an experiment; return its file and the text in it."""
    file = find_experiment(named)
    with _suggested(named):
        return file, read_text(file)


@contextmanager
def _suggested(named: str) -> Iterator[None]:
    """Name the closest shipped experiment in the error about a file that does not exist."""
    try:
        yield
    except ConfigError as error:
        close = did_you_mean(named.removesuffix(SUFFIX), experiment_names(), otherwise="")
        if not close or not isinstance(error.__cause__, FileNotFoundError):
            raise
        raise ConfigError([replace(error.problems[0], advice=close)]) from error


def experiment_names() -> list[str]:
    """Return the names of the shipped experiments."""
    return [file.relative_to(DIRECTORY).with_suffix("").as_posix() for file in experiment_files()]


def experiment_files() -> list[Path]:
    """Return every shipped experiment."""
    return sorted(DIRECTORY.rglob(f"*{SUFFIX}"))


def space_files() -> list[Path]:
    """Return every shipped space of `rogue search`."""
    return sorted(DIRECTORY.glob("found/spaces/*.yml"))


def found_files() -> list[Path]:
    """Return every shipped find of `rogue search`."""
    return sorted(DIRECTORY.glob("found/*.yml"))
