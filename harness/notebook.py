"""Run experiments and open runs in Python, with named plug-ins: `rogue.load` and `rogue.run`."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.slot import InlineSlot
from rogue.harness.experiment.document import Document
from rogue.harness.experiment.find import load_named
from rogue.harness.experiment.load import LoadedExperiment, load_document
from rogue.harness.plan.plan import make_plan
from rogue.harness.plugins.source import plugins_at
from rogue.harness.plugins.trust import Trust, left_out, load_what_is_trusted
from rogue.harness.results.named_run import DEFAULT_OUT, find_run
from rogue.harness.results.run_directory import locked, read_manifest
from rogue.harness.run import Workers, cells_left, start_run, work
from rogue.harness.testbeds import DEFAULT_TESTBED, ready_testbed
from rogue.reports.results.loaded import LoadedRun
from rogue.workloads.records import CellStatus

DICTIONARY: Final = "<dictionary>"
"""Replaces the name of an experiment's file."""


def load(
    directory: str | PathLike[str],
    plugins: Iterable[str | PathLike[str]] = (),
    *,
    trusts_plugins: bool = False,
) -> LoadedRun:
    """Open a run: its directory, or in `results` its id, its experiment (the newest run) or `latest`.

    `plugins` are files that add measures; `trusts_plugins` runs those that the run keeps, which have all your
    permissions. Measures of other plug-ins of the run are left out, with a warning.
    Raises `rogue.ReportError` if the directory is no run, `rogue.HarnessError` about a name or a plug-in.
    """
    path = find_run(directory)
    run = LoadedRun(path)
    trust = Trust(tuple(map(Path, plugins)), trusts_plugins)
    untrusted = load_what_is_trusted(read_manifest(path).plugins, trust)
    for text in left_out(untrusted):
        warnings.warn(f"{text}; name it: rogue.load(RUN, plugins=[FILE])", stacklevel=2)
    return run


def run(
    experiment: Mapping[str, object] | str | PathLike[str],
    plugins: Sequence[str | PathLike[str]] = (),
    *,
    settings: Sequence[str] = (),
    out: str | PathLike[str] = DEFAULT_OUT,
    testbed: str = DEFAULT_TESTBED,
) -> LoadedRun:
    """Run an experiment in this process, one cell after the other, and open the run.

    `experiment` has the keys of a file, or is the name of one; `settings` change it as `--set` does. A
    dictionary names files relative to the working directory. Failed cells are in `run.cells`, and a warning
    counts them; a wrong experiment is a `rogue.HarnessError`. `rogue report RUN` builds the report.
    """
    loaded = _loaded(experiment, tuple(map(Path, plugins)), tuple(settings))
    plan = make_plan(loaded, ready_testbed(testbed, None, is_trusted=False))
    begun = start_run(plan, Path(out), ("rogue.run",))
    with locked(begun.directory):
        work(begun, plan, cells_left(begun, plan), Workers(1, InlineSlot), Watcher())
    failed = [cell for cell in begun.manifest.cells if cell.status is CellStatus.FAILED]
    if failed:
        of_all = f"{len(failed)} of {len(begun.manifest.cells)} cells failed"
        warnings.warn(f"{of_all}, the first, {failed[0].id}: {failed[0].message}", stacklevel=2)
    return load(begun.directory, plugins, trusts_plugins=True)


def _loaded(
    experiment: Mapping[str, object] | str | PathLike[str],
    plugins: tuple[Path, ...],
    settings: tuple[str, ...],
) -> LoadedExperiment:
    if not isinstance(experiment, Mapping):
        return load_named(fspath(experiment), settings, plugins)
    return load_document(_document(experiment), settings, plugins_at(plugins))


def _document(experiment: Mapping[str, object]) -> Document:
    """Return a dictionary as a file would have it, which a run can keep."""
    try:
        text = json.dumps(dict(experiment))
    except (TypeError, ValueError) as error:
        expected = "texts, numbers, lists and dictionaries, as a file has them"
        advice = "write other values as texts"
        raise ConfigError([Problem(DICTIONARY, "", str(error), expected, advice)]) from error
    return Document(DICTIONARY, hashlib.sha256(text.encode()).hexdigest(), json.loads(text), {})
