"""The page of all runs, which is written anew whenever one of them changes."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.run_directory import is_locked, results_directory
from rogue.harness.telling import tell

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
        tell(text)


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
