"""`rogue export`."""

from pathlib import Path

import typer

from harness.commands.damage import refuse_damage
from harness.errors import UsageError
from harness.exit_codes import ExitCode
from harness.results.manifest import read_manifest


def export_run(run: Path, out: Path | None, *, accepts_damage: bool = False) -> ExitCode:
    """Write a run's tables as CSV files beside it, or where `out` says; the run itself stays as it is."""
    manifest = read_manifest(run)
    directory = out or run.resolve().with_name(f"{manifest.run_id}-csv")
    if directory.exists():
        raise UsageError(
            f"export: {directory} is there already, expected a new directory; name one with --out."
        )
    refuse_damage([run], is_accepted=accepts_damage)
    from reports.export import export
    from reports.load import Run
    from reports.results import Results

    results = Results(Run(run))
    names = export(results, directory)
    for problem in results.run.problems:
        typer.echo(f"rogue: {problem}", err=True)
    typer.echo(f"{len(names)} files: {', '.join(names)}", err=True)
    typer.echo(directory)
    return ExitCode.OK
