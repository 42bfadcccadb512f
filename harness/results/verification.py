"""Compare a run's directory with its manifest."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rogue.harness.plugins.source import source_of
from rogue.harness.results.run_directory import CELLS, CHANGED, TEMPORARY_PREFIX, files_below
from rogue.reports.reading.files import checksum
from rogue.workloads.manifest import DATA, MANIFEST, Manifest, Soundness
from rogue.workloads.printable import printable

UNLISTED: Final = "not in the manifest"
_OF_NO_RUN: Final = re.compile(rf"{re.escape(MANIFEST)}(\.sig)?")
_LEFT: Final = re.compile(
    rf"(\.(report\.html|claims\.json)\.[0-9]+\.partial"
    rf"|(({CELLS}|{DATA})/)?{re.escape(TEMPORARY_PREFIX)}[^/]+)(?=/|$)"
)
"""Temporary names of files and cells that are being written."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A file of a run's directory that differs from the manifest."""

    path: str
    what: str
    is_unlisted: bool = False
    """True if the manifest does not list the file."""

    def __str__(self) -> str:
        return f"{printable(self.path) or '.'}: {self.what}"


@dataclass(slots=True)
class Comparison:
    """Result of comparing a run with its manifest."""

    differences: list[Difference] = field(default_factory=list)
    leftovers: set[str] = field(default_factory=set)
    """Paths of temporary files and folders of a write that is under way or was stopped."""
    links: set[str] = field(default_factory=set)
    """Paths of links whose targets have the content that the manifest states."""


def compare_run(run: Path, manifest: Manifest) -> Comparison:
    """Compare all files, the manifest and the texts of its plug-ins with their checksums."""
    compared = compare_files(run, manifest.files)
    if manifest.soundness is Soundness.CHANGED:
        compared.differences.append(Difference(MANIFEST, CHANGED))
    compared.differences += [
        Difference(MANIFEST, f"the text of the plug-in {printable(each.file)} was changed")
        for each in manifest.plugins
        if source_of(each).sha256 != each.sha256
    ]
    compared.differences.sort(key=str)
    return compared


def compare_files(run: Path, expected: Mapping[str, str]) -> Comparison:
    """Compare files with their checksums. Files that are not listed are differences and are not read.

    A signature, and temporary files of a killed report, do not belong to the run.
    """
    compared = Comparison()
    missing = set(expected)
    for path in files_below(run):
        if path in expected:
            missing.discard(path)
            if damage := _damage(run / path, expected[path]):
                compared.differences.append(Difference(path, damage))
            elif (run / path).is_symlink():
                compared.links.add(path)
        elif left := _LEFT.match(path):
            compared.leftovers.add(left[0])
        elif not _OF_NO_RUN.fullmatch(path):
            compared.differences.append(Difference(path, UNLISTED, is_unlisted=True))
    compared.differences += [Difference(path, "missing") for path in missing]
    compared.differences.sort(key=str)
    return compared


def _damage(file: Path, digest: str) -> str | None:
    """Return what is wrong with a listed file; None if it is as the manifest says."""
    try:
        return None if checksum(file) == digest else "changed"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
