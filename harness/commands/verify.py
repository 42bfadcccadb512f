"""Verify runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.errors import ExitCode, HarnessError
from rogue.harness.terminal import notify
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.results.verification import Comparison
    from rogue.workloads.manifest import Manifest


def verify(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Directories of runs.", autocompletion=completion.runs),
    ],
) -> ExitCode:
    """Compare every file of runs with the checksums in their manifests.

    Says what differs, and one line for each run; the exit code is that of the worst. A signature over the
    manifest is made and checked with ssh-keygen, as ARTIFACT.md shows.

    \b
      rogue verify results/quickstart/20261120T101500Z-3f9a1c
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
LEFT: Final = "left by a write that was stopped; it is no part of the run and may be deleted"
LINK: Final = "a link; what it leads to is as in the manifest, and stands outside of what was verified"
NO_CHECKSUM: Final = (
    "the manifest is of a version that wrote no checksum of it, so that a change of it is not seen"
)


def verify_run(run: Path) -> ExitCode:
    """Compare a run with its manifest and print each difference."""
    from rogue.harness.results.manifest import read_manifest
    from rogue.harness.results.recorded_run import present_manifest
    from rogue.harness.results.run_directory import is_locked
    from rogue.harness.results.verification import compare_run
    from rogue.workloads.manifest import Soundness

    is_going = is_locked(run)
    manifest = read_manifest(run)
    if manifest.status == "running":  # or killed: its last cells are in no manifest yet
        manifest = present_manifest(run)
    compared = compare_run(run, manifest)
    differences = _differences(compared, is_going=is_going)
    _show(run, differences)
    _show(run, [f"{printable(path)}: {LEFT}" for path in sorted(compared.leftovers) if not is_going])
    _show(run, [f"{printable(path)}: {LINK}" for path in sorted(compared.links)])
    if manifest.soundness is Soundness.UNKNOWN:
        typer.echo(printable(f"{run}: {NO_CHECKSUM}"))
    if differences:
        counted = f"{len(differences)} difference{'s' * (len(differences) != 1)}"
        notify(f"{run}: {counted} from the manifest.")
        return ExitCode.DAMAGED
    typer.echo(printable(_result(run, manifest, is_going=is_going)))
    return ExitCode.OK


def _differences(compared: Comparison, *, is_going: bool) -> list[str]:
    """Return what is damage: of a run that is going, what it writes meanwhile is none."""
    return [str(each) for each in compared.differences if not (is_going and each.is_unlisted)]


def _result(run: Path, manifest: Manifest, *, is_going: bool) -> str:
    so_far = " so far; another process works on this run" if is_going else ""
    return f"{run}: {len(manifest.files)} files as in the manifest{so_far}"


def _show(run: Path, lines: Sequence[str]) -> None:
    for line in lines[:SHOWN_MAX]:
        typer.echo(printable(f"{run}/{line}"))
    if len(lines) > SHOWN_MAX:
        typer.echo(printable(f"{run}: ... and {len(lines) - SHOWN_MAX} more"))
