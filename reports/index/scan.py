"""Find runs and tags below a results directory."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from rogue.reports.errors import ReportError
from rogue.reports.index.combined import RUNS
from rogue.reports.index.run_entries import (
    Entry,
    IsLocked,
    is_regular,
    is_run_name,
    read_combined,
    read_entry,
    shown,
)
from rogue.reports.reading.files import read_regular, write_whole
from rogue.workloads.manifest import MANIFEST, parse_json

TAGS: Final = "tags.json"
TAGS_MAX: Final = 16
"""Of one run."""
_TAG: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")

Tags = dict[str, tuple[str, ...]]
"""By the id of a run."""


def read_tags(results: Path) -> Tags:
    """Return the tags of a results directory; what is none is left out."""
    try:
        content = _content(results / TAGS)
    except (OSError, ValueError):
        return {}
    return {
        run: tuple(tag for tag in tags if isinstance(tag, str) and _TAG.fullmatch(tag))[:TAGS_MAX]
        for run, tags in content.items()
        if isinstance(tags, list)
    }


def _content(path: Path) -> dict[str, JsonValue]:
    """Return what the file says; OSError or ValueError if it is no file of tags."""
    if path.is_symlink():
        raise ValueError("a link")
    content = parse_json(read_regular(path))
    if not isinstance(content, dict):
        raise ValueError("no object")
    return content


def write_tags(results: Path, run_id: str, tags: Sequence[str]) -> None:
    """Give a run these tags in place of those that it has; ReportError if one is none."""
    for tag in tags:
        if not _TAG.fullmatch(tag):
            expected = "small letters, digits, ., _ and -, up to 32, a letter or digit first"
            raise ReportError(f"tag: got {tag!r}, expected {expected}; choose another word.")
    if len(tags) > TAGS_MAX:
        raise ReportError(f"tag: got {len(tags)} tags, expected at most {TAGS_MAX}; leave some out.")
    path = results / TAGS
    try:
        _content(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        expected = "tags as `rogue tag` writes them"
        raise ReportError(f"{path}: got {error}, expected {expected}; correct or remove it.") from error
    known = read_tags(results) | {run_id: tuple(dict.fromkeys(tags))}
    kept = {run: list(words) for run, words in sorted(known.items()) if words}
    write_whole(path, json.dumps(kept, indent=1) + "\n")


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
