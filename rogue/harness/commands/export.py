"""`rogue export`."""

from collections.abc import Sequence
from pathlib import Path

import typer

from rogue.harness.commands.damage import refuse_damage
from rogue.harness.errors import UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.results.manifest import read_manifest


def export_chosen(
    run: Path, kinds: Sequence[str], cells: Sequence[str], out: Path | None, *, accepts_damage: bool = False
) -> ExitCode:
    """Write tables as CSV, or a file for each cell."""
    if len(kinds) > 1:
        got = " and ".join(f"--{kind}" for kind in kinds)
        raise UsageError(f"export: got {got}, expected one of them; call it once for each.")
    if cells and not kinds:
        raise UsageError("export: got --cell alone, expected --pcap or --timeline with it; add one.")
    if kinds:
        return export_cells(run, kinds[0], cells, out, accepts_damage=accepts_damage)
    return export_run(run, out, accepts_damage=accepts_damage)


def export_run(run: Path, out: Path | None, *, accepts_damage: bool = False) -> ExitCode:
    """Write a run's tables as CSV files beside it, or where `out` says; the run itself stays as it is."""
    directory = _new_directory(run, out, "csv", accepts_damage=accepts_damage)
    from rogue.reports.export import export
    from rogue.reports.load import Run
    from rogue.reports.results import Results

    results = Results(Run(run))
    names = export(results, directory)
    return _say(results.run.problems, names, directory)


def export_cells(
    run: Path, kind: str, cells: Sequence[str], out: Path | None, *, accepts_damage: bool = False
) -> ExitCode:
    """Write a file for each cell: a capture of its packets, or a timeline."""
    directory = _new_directory(run, out, kind, accepts_damage=accepts_damage)
    from rogue.reports.cell_files import write_cell_files
    from rogue.reports.errors import ReportError
    from rogue.reports.load import Run
    from rogue.reports.results import Results

    results = Results(Run(run))
    try:
        names, notes = write_cell_files(results, kind, directory, cells)
    except ReportError as error:
        raise UsageError(f"export: {error}.") from error
    return _say([*results.run.problems, *notes], names, directory)


def _new_directory(run: Path, out: Path | None, suffix: str, *, accepts_damage: bool) -> Path:
    """Where the files go: a directory that is not there yet."""
    manifest = read_manifest(run)
    directory = out or run.resolve().with_name(f"{manifest.run_id}-{suffix}")
    if directory.exists():
        raise UsageError(
            f"export: {directory} is there already, expected a new directory; name one with --out."
        )
    refuse_damage([run], is_accepted=accepts_damage)
    return directory


def _say(problems: Sequence[str], names: Sequence[str], directory: Path) -> ExitCode:
    for problem in problems:
        typer.echo(f"rogue: {problem}", err=True)
    typer.echo(f"{len(names)} file{'s' * (len(names) != 1)}: {', '.join(names)}", err=True)
    typer.echo(directory)
    return ExitCode.OK
