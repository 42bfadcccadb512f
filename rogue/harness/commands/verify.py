"""`rogue verify`."""

from pathlib import Path

import typer

from rogue.harness.commands.sign import check_signature
from rogue.harness.exit_codes import ExitCode
from rogue.harness.plugins.source import source_of
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.run_directory import check_files
from rogue.workloads.manifest import MANIFEST, Manifest
from rogue.workloads.printable import printable


def _changed_plugins(manifest: Manifest) -> list[str]:
    """Their texts stand in the manifest."""
    return [
        f"{MANIFEST}: the text of the plug-in {each.file} was changed"
        for each in manifest.plugins
        if source_of(each).sha256 != each.sha256
    ]


def verify_run(run: Path, signer: str | None = None, allowed: Path | None = None) -> ExitCode:
    """Compare a run's files with its manifest; print each difference, and who signed it if that is asked."""
    manifest = read_manifest(run)
    differences = [*check_files(run, manifest.files), *_changed_plugins(manifest)]
    for difference in differences:
        typer.echo(printable(f"{run}/{difference}"))
    if differences:
        typer.echo(f"rogue: {run}: {len(differences)} files differ from the manifest.", err=True)
        return ExitCode.DAMAGED
    typer.echo(f"{run}: {len(manifest.files)} files as in the manifest")
    if signer is not None and allowed is not None:
        check_signature(run, signer, allowed)
        typer.echo(f"{run}: the manifest is signed by {signer}")
    return ExitCode.OK
