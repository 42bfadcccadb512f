"""`rogue verify`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer

from rogue.harness.commands.options import RunDirectories
from rogue.harness.errors import ExitCode, HarnessError
from rogue.harness.results.recorded_run import present_manifest
from rogue.harness.results.run_directory import is_locked, read_manifest
from rogue.harness.results.verification import compare_run
from rogue.harness.terminal import notify
from rogue.workloads.manifest import Soundness
from rogue.workloads.printable import printable


def verify(
    runs: RunDirectories,
) -> ExitCode:
    """Compare every file of runs with the checksums in their manifests.

    Prints what differs, and one line for each run; the exit code is that of the worst. ARTIFACT.md shows how
    to sign a manifest, and check its signature, with ssh-keygen.

    \b
      rogue verify latest
      rogue verify results/quickstart/*
    """
    codes = [ExitCode.OK]
    for run in dict.fromkeys(runs):
        try:
            codes.append(verify_run(run))
        except HarnessError as error:
            notify(*error.lines)
            codes.append(error.exit_code)
        except OSError as error:
            notify(f"{error.filename or run}: {error.strerror or error}.")
            codes.append(ExitCode.STORAGE)
    return max(codes)


SHOWN_MAX: Final = 100
"""Lines about one run of one kind; the rest is counted."""
LEFT: Final = "a temporary file of a write that was stopped; it may be deleted"
LINK: Final = "a link; its target is as in the manifest, and is outside of the run"
NO_CHECKSUM: Final = "the manifest has no checksum, because its version is old; a change of it is not seen"


def verify_run(run: Path) -> ExitCode:
    """Compare a run with its manifest and print each difference."""
    is_going = is_locked(run)
    manifest = read_manifest(run)
    if manifest.status == "running":  # or killed: its last cells are in no manifest yet
        manifest = present_manifest(run)
    compared = compare_run(run, manifest)
    differences = [str(each) for each in compared.differences if not (is_going and each.is_unlisted)]
    _show(run, differences)
    _show(run, [f"{printable(path)}: {LEFT}" for path in sorted(compared.leftovers) if not is_going])
    _show(run, [f"{printable(path)}: {LINK}" for path in sorted(compared.links)])
    if manifest.soundness is Soundness.UNKNOWN:
        typer.echo(printable(f"{run}: {NO_CHECKSUM}"))
    if differences:
        counted = f"{len(differences)} difference{'s' * (len(differences) != 1)}"
        notify(f"{run}: {counted} from the manifest.")
        return ExitCode.DAMAGED
    so_far = " so far; another process works on this run" if is_going else ""
    typer.echo(printable(f"{run}: {len(manifest.files)} files as in the manifest{so_far}"))
    return ExitCode.OK


def _show(run: Path, lines: Sequence[str]) -> None:
    for line in lines[:SHOWN_MAX]:
        typer.echo(printable(f"{run}/{line}"))
    if len(lines) > SHOWN_MAX:
        typer.echo(printable(f"{run}: ... and {len(lines) - SHOWN_MAX} more"))
