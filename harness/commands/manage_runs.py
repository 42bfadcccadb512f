"""Keep the list of runs up to date, and tag runs."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.run_directory import is_locked, results_directory
from rogue.harness.terminal import notify
from rogue.reports.errors import ReportError
from rogue.reports.index.tags import write_tags

PATIENCE_SECONDS: Final = 5.0
"""For how long one process waits for another that writes the same page."""


def update_index_of(runs: Iterable[Path]) -> None:
    """Write the page of each results directory that has one of these runs."""
    places: dict[Path | None, None] = {}
    for run in runs:
        with contextlib.suppress(Exception):  # what is wrong with a run is told elsewhere
            experiment = read_manifest(run).experiment.get("name")
            places[results_directory(run, str(experiment))] = None
    for place in places:
        if place is not None:
            update_index(place)


def update_index(results: Path) -> None:
    """Write the page of a results directory; a failure costs a message and nothing else."""
    try:
        from rogue.reports.index import find_entries, write_index

        with _one_at_a_time(results):
            write_index(results, find_entries(results, is_locked))
    except Exception as error:
        text = f"the list of runs was not written ({type(error).__name__}: {error})"
        notify(text)


@contextlib.contextmanager
def _one_at_a_time(results: Path) -> Iterator[None]:
    """Writers take turns, so that the newest page stays; one that hangs delays others for seconds only."""
    descriptor = os.open(results, os.O_RDONLY | os.O_DIRECTORY)
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:  # a file system without locks
                break
        yield
    finally:
        os.close(descriptor)


def tag_run(run: Path, tags: Sequence[str]) -> ExitCode:
    """Note the tags of a run beside it, and write the list of runs anew."""
    manifest = read_manifest(run)
    place = results_directory(run, str(manifest.experiment.get("name")))
    if place is None:
        expected = "one below a directory of results, RESULTS/EXPERIMENT/RUN, which is where tags are kept"
        raise UsageError(f"tag: got {run}, a run that was moved, expected {expected}; move it back.")
    try:
        write_tags(place, manifest.run_id, tags)
    except ReportError as error:
        raise UsageError(str(error)) from error
    update_index(place)
    return ExitCode.OK
