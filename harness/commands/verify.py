"""`rogue verify`."""

from pathlib import Path

import typer

from harness.exit_codes import ExitCode
from harness.results.manifest import read_manifest
from harness.results.run_directory import check_files


def verify_run(run: Path) -> ExitCode:
    """Compare a run's files with its manifest; print each difference."""
    manifest = read_manifest(run)
    differences = check_files(run, manifest.files)
    for difference in differences:
        typer.echo(f"{run}/{difference}")
    if differences:
        typer.echo(f"rogue: {run}: {len(differences)} files differ from the manifest.", err=True)
        return ExitCode.DAMAGED
    typer.echo(f"{run}: {len(manifest.files)} files as in the manifest")
    return ExitCode.OK
