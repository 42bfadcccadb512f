"""Open the runs that a command names, refuse damaged ones, and write output files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rogue.harness.errors import DamagedRunError, HarnessError, StorageError
from rogue.harness.plugins.trust import NO_TRUST, Trust, left_out, load_what_is_trusted
from rogue.harness.results.recorded_run import present_manifest
from rogue.harness.results.run_directory import CELLS, is_locked, read_manifest, write_whole
from rogue.harness.results.verification import Difference, compare_run
from rogue.harness.terminal import call_again, notify
from rogue.reports.reading.files import checksum
from rogue.workloads.manifest import Manifest

MADE_AGAIN: Final = ("claims.json", "report.html", "report-error.txt")
SHOWN_MAX: Final = 10


def refuse_damage(runs: Sequence[Path], *, is_accepted: bool) -> None:
    """DamagedRunError if a file is not as its run wrote it; only print that if it is accepted.

    A run that another process works on is skipped. A killed run has cells that its manifest does not list.
    """
    for run in runs:
        if is_locked(run):
            continue
        manifest = read_manifest(run)
        if manifest.status == "running":
            manifest = present_manifest(run)
        differences = [each for each in compare_run(run, manifest).differences if _is_damage(each)]
        if not differences:
            continue
        shown = [f"  {each}" for each in differences[:SHOWN_MAX]]
        if len(differences) > SHOWN_MAX:
            shown.append(f"  ... and {len(differences) - SHOWN_MAX} more; {call_again('verify', run)}")
        count = len(differences)
        words = (
            f"{count} files are not as the run wrote them"
            if count > 1
            else "1 file is not as the run wrote it"
        )
        lines = [f"{run}: {words}:", *shown]
        if not is_accepted:
            raise DamagedRunError(*lines, "  to continue with what can be read: --accept-damage")
        notify(*lines)


def refuse_unread(runs: Sequence[Path], *, is_accepted: bool) -> list[Path]:
    """Return the runs whose manifests can be read; DamagedRunError for others unless that is accepted."""
    read = []
    for run in runs:
        try:
            read_manifest(run)
        except HarnessError as error:
            if not is_accepted:
                raise DamagedRunError(*error.lines, "  to continue without it: --accept-damage") from error
            notify(f"left out: {error.lines[0]}", *error.lines[1:])
        else:
            read.append(run)
    return read


def is_as_noted(run: Path, name: str) -> bool:
    """True unless a file of a run differs from the checksum in its manifest."""
    noted, file = read_manifest(run).files.get(name), run / name
    return noted is None or not file.is_file() or checksum(file) == noted


def _is_damage(difference: Difference) -> bool:
    """True unless a report writes the file again, or it is a user's file beside the cells."""
    is_own = difference.is_unlisted and not difference.path.startswith(CELLS)
    return not is_own and difference.path not in MADE_AGAIN


def open_runs(
    runs: Sequence[Path], trust: Trust | None = None, *, accepts_damage: bool = False
) -> list[Manifest]:
    """Return the manifests of runs that may be read; DamagedRunError if one is not as it was written.

    Named plug-ins are loaded. A message lists the measures and figures of the others, which are left out.
    """
    manifests = [read_manifest(run) for run in runs]
    refuse_damage(runs, is_accepted=accepts_damage)
    plugins = [each for one in manifests for each in one.plugins]
    for text in left_out(load_what_is_trusted(plugins, trust or NO_TRUST)):
        notify(f"{text}; add --plugin with the same file, or --trust-plugins.")
    return manifests


def write_output(path: Path, text: str) -> None:
    """Write a whole file, and make the directories above it; StorageError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(f"{path}: got {reason!r}, expected a file to write; name another.") from error
