"""Find runs and combined reports below a results directory."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from rogue.reports.index.run_entries import (
    Entry,
    IsLocked,
    is_regular,
    is_run_name,
    read_combined,
    read_entry,
    shown,
)
from rogue.reports.index.run_files import RUNS, Tags, read_tags
from rogue.workloads.manifest import MANIFEST

DEPTH_MAX: Final = 2
"""results/<experiment>/<run>"""
DIRECTORIES_MAX: Final = 20_000


def find_entries(results: Path, is_locked: IsLocked, experiment: str | None = None) -> list[Entry]:
    """Return the runs and reports below a directory, newest first; those of one experiment if it is named."""
    runs, reports, tags = [], [], read_tags(results)
    for directory in _candidates(results):
        if is_regular(directory / RUNS) and not is_regular(directory / MANIFEST):
            reports.append(directory)
        else:
            runs.append(_tagged(read_entry(directory, is_locked), tags))
    known = {entry.run_id: entry.data_sha256 for entry in runs}
    entries = [*runs, *(read_combined(directory, known) for directory in reports)]
    if experiment is not None:
        entries = [entry for entry in entries if shown(experiment) in entry.experiment.split(", ")]
    return sorted(entries, key=lambda entry: (entry.created, str(entry.directory)), reverse=True)


def _tagged(entry: Entry, tags: Tags) -> Entry:
    return replace(entry, tags=tags[entry.run_id]) if entry.run_id in tags else entry


def _candidates(results: Path) -> Iterator[Path]:
    """Directories that look like a run or a report over several."""
    looked_at, level = 0, [results]
    for depth in range(DEPTH_MAX + 1):
        below: list[Path] = []
        for directory in level:
            looked_at += 1
            if looked_at > DIRECTORIES_MAX:
                return
            if _looks_like_one(directory):
                yield directory
            elif depth < DEPTH_MAX:
                below += _directories(directory)
        level = below


def _looks_like_one(directory: Path) -> bool:
    return is_run_name(directory.name) or any(is_regular(directory / name) for name in (MANIFEST, RUNS))


def _directories(directory: Path) -> list[Path]:
    try:
        with os.scandir(directory) as found:
            names = [
                each.name
                for each in found
                if not each.name.startswith(".") and each.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [directory / name for name in sorted(names)]
