"""Compare a run's directory with its manifest."""

import heapq
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from rogue.harness.plugins.source import source_of
from rogue.harness.results.files import FILE, FOLDER, TEMPORARY_PREFIX, FoundEntry, entries_below
from rogue.harness.results.manifest import CELL_RECORD, CHANGED, read_cell_record
from rogue.harness.results.run_directory import CELLS
from rogue.reports.reading.files import checksum
from rogue.workloads.manifest import DATA, MANIFEST, CellRecord, Manifest, Soundness
from rogue.workloads.printable import printable
from rogue.workloads.records import CellStatus

UNLISTED: Final = "not in the manifest"
NAMED_MAX: Final = 20
"""Of what is not in the manifest, in one folder; the rest is counted."""
_OF_NO_RUN: Final = re.compile(rf"{re.escape(MANIFEST)}(\.sig)?")
_LEFT: Final = re.compile(
    rf"\.(report\.html|claims\.json)\.[0-9]+\.partial|(({CELLS}|{DATA})/)?{re.escape(TEMPORARY_PREFIX)}[^/]+"
)
"""What a write has under way: only in these folders, where it gets its name at the end."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in a run's directory that is not as the manifest says."""

    path: str
    what: str
    is_unlisted: bool = False
    """The manifest says nothing of it."""

    def __str__(self) -> str:
        return f"{printable(self.path) or '.'}: {self.what}"


@dataclass(slots=True)
class Comparison:
    """What came of it."""

    differences: list[Difference] = field(default_factory=list)
    leftovers: set[str] = field(default_factory=set)
    """Paths of what a write has under way, or has left."""
    links: set[str] = field(default_factory=set)
    """Paths of files of the run that are links; what they lead to is as the manifest says."""


@dataclass(slots=True)
class _Strangers:
    """What stands in one folder and is not in the manifest: the first by name, and how many."""

    count: int = 0
    first: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, what: str) -> None:
        self.count += 1
        self.first.append((path, what))
        if len(self.first) >= 2 * NAMED_MAX:
            self.first = heapq.nsmallest(NAMED_MAX, self.first)

    def told(self, folder: str) -> list[Difference]:
        named = sorted(self.first)[:NAMED_MAX]
        told = [Difference(path, what, is_unlisted=True) for path, what in named]
        if self.count > NAMED_MAX:
            told.append(Difference(folder, f"{self.count - NAMED_MAX} more {UNLISTED}", True))
        return told


def compare_run(run: Path, manifest: Manifest) -> Comparison:
    """Hold everything against each other: the manifest, its plug-ins, all files, and each cell's record."""
    compared = compare_files(run, manifest.files)
    if manifest.soundness is Soundness.CHANGED:
        compared.differences.append(Difference(MANIFEST, CHANGED))
    compared.differences += [
        Difference(MANIFEST, f"the text of the plug-in {printable(each.file)} was changed")
        for each in manifest.plugins
        if source_of(each).sha256 != each.sha256
    ]
    compared.differences += _contradictions(run, manifest)
    compared.differences += [
        Difference(MANIFEST, f"the experiment has a kind that is no name: {type(kind).__name__}")
        for kind in _kinds(manifest)
        if not isinstance(kind, str)
    ]
    compared.differences.sort(key=str)
    return compared


def check_files(run: Path, expected: Mapping[str, str]) -> list[str]:
    """What differs from the manifest: one sentence per file that is missing, changed or added."""
    return [str(each) for each in compare_files(run, expected).differences]


def compare_files(run: Path, expected: Mapping[str, str]) -> Comparison:
    """Hold files against their checksums; what is not listed is damage and not work, so nobody reads it.

    What a report that was killed has left, and a signature, are no files of the run.
    """
    compared = Comparison()
    missing = set(expected)
    strangers: dict[str, _Strangers] = {}
    for each in entries_below(run):
        if each.path in expected:
            missing.discard(each.path)
            found = _compared(run, each, expected[each.path])
            compared.differences += found
            if each.is_link and not found:
                compared.links.add(each.path)
        elif each.problem is None and _LEFT.fullmatch(each.path) and _is_of_a_write(each):
            compared.leftovers.add(each.path)
        elif (what := _stranger(each)) is not None and not _is_within(each.path, compared.leftovers):
            folder = each.path.rpartition("/")[0]
            strangers.setdefault(folder, _Strangers()).add(each.path, what)
    compared.differences += [Difference(path, "missing") for path in missing]
    for folder, others in strangers.items():
        compared.differences += others.told(folder)
    compared.differences.sort(key=str)
    return compared


def _compared(run: Path, found: FoundEntry, digest: str) -> list[Difference]:
    """Hold one file that is listed against its checksum; its size is looked at first."""
    if found.kind != FILE:
        return [Difference(found.path, f"{found.described}, expected a file")]
    if not found.is_readable:
        return [Difference(found.path, f"larger than any file of a run ({found.size_bytes} bytes)")]
    try:
        is_same = checksum(run / found.path) == digest
    except OSError as error:
        return [Difference(found.path, f"cannot be read ({error.strerror})")]
    return [] if is_same else [Difference(found.path, "changed")]


def _stranger(found: FoundEntry) -> str | None:
    """What is said of something that is not listed; nothing of a folder, whose files speak for it."""
    if found.problem is not None:
        return f"{found.problem}, {UNLISTED}"
    if found.is_link or found.kind not in (FILE, FOLDER):
        return f"{found.described}, {UNLISTED}"
    if found.kind == FOLDER or _OF_NO_RUN.fullmatch(found.path):
        return None
    return UNLISTED


def _is_of_a_write(found: FoundEntry) -> bool:
    return not found.is_link and found.kind in (FILE, FOLDER)


def _is_within(path: str, leftovers: Collection[str]) -> bool:
    """Whether it stands in a folder that a write has left, which is at most two levels deep."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in leftovers for depth in (1, 2))


def _kinds(manifest: Manifest) -> list[JsonValue]:
    """Return all kinds that an experiment names: of its network, its traffic, its probe and its faults."""
    groups, faults = (manifest.experiment.get(key) for key in ("traffic", "faults"))
    parts = [manifest.experiment.get(key) for key in ("topology", "workload", "probe")]
    parts += faults if isinstance(faults, list) else []
    for group in groups if isinstance(groups, list) else []:
        parts.append(group.get("workload") if isinstance(group, dict) else None)
    return [part["kind"] for part in parts if isinstance(part, dict) and "kind" in part]


def _contradictions(run: Path, manifest: Manifest) -> list[Difference]:
    """Cells of which the manifest says something else than they say themselves."""
    found = []
    for cell in manifest.cells:
        path = f"{CELLS}/{_directory(cell)}/{CELL_RECORD}"
        if path in manifest.files and (record := read_cell_record((run / path).parent)) is not None:
            keys = _unequal(cell, record)
            if keys:
                found.append(Difference(path, f"says otherwise than the manifest: {', '.join(keys)}"))
    return found


def _directory(cell: CellRecord) -> str:
    """Where what the manifest says of a cell was written: by its last attempt."""
    attempts = cell.failed_attempts if cell.status is CellStatus.FAILED else []
    is_own = bool(attempts) and attempts[-1].startswith(f"{cell.id}.failed-") and "/" not in attempts[-1]
    return attempts[-1] if is_own else cell.id


def _unequal(cell: CellRecord, record: CellRecord) -> list[str]:
    """Names of what differs. A cell does not know how often it was tried."""
    mine, own = (each.model_dump(mode="json", exclude={"failed_attempts"}) for each in (cell, record))
    return [key for key, value in mine.items() if own[key] != value]
