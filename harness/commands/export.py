"""`rogue export`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rogue.harness.commands.opening import opened
from rogue.harness.errors import UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.plugins.trust import NOBODY, Trust
from rogue.harness.telling import tell
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.reports.results import Results


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What `rogue export` was asked for: tables as CSV, or a file of one of the kinds for each cell."""

    run: Path
    kinds: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    out: Path | None = None
    trust: Trust = NOBODY
    accepts_damage: bool = False


def export_run(options: ExportOptions) -> ExitCode:
    """Write files beside a run, or where `out` says; the run itself stays as it is."""
    kinds = options.kinds
    if len(kinds) > 1:
        got = " and ".join(f"--{kind}" for kind in kinds)
        raise UsageError(f"export: got {got}, expected one of them; call it once for each.")
    if options.cells and not kinds:
        raise UsageError("export: got --cell alone, expected --pcap or --timeline with it; add one.")
    directory = _new_directory(options)
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    results = Results(Run(options.run))
    return _write_cells(results, options, directory) if kinds else _write_tables(results, directory)


def _new_directory(options: ExportOptions) -> Path:
    """Where the files go: a directory that is not there yet."""
    (manifest,) = opened([options.run], options.trust, accepts_damage=options.accepts_damage)
    suffix = (*options.kinds, "csv")[0]
    directory = options.out or options.run.resolve().with_name(f"{manifest.run_id}-{suffix}")
    if directory.exists():
        raise UsageError(
            f"export: {directory} is there already, expected a new directory; name one with --out."
        )
    return directory


def _write_tables(results: "Results", directory: Path) -> ExitCode:
    from rogue.reports.export.tables import export

    names = export(results, directory)
    return _say(results.run.problems, names, directory)


def _write_cells(results: "Results", options: ExportOptions, directory: Path) -> ExitCode:
    """A capture of each cell's packets, or a timeline."""
    from rogue.reports.errors import ReportError
    from rogue.reports.export.cell_files import write_cell_files

    try:
        names, notes = write_cell_files(results, options.kinds[0], directory, options.cells)
    except ReportError as error:
        raise UsageError(f"export: {error}.") from error
    return _say([*results.run.problems, *notes], names, directory)


def _say(problems: Sequence[str], names: Sequence[str], directory: Path) -> ExitCode:
    for problem in problems:
        tell(problem)
    typer.echo(printable(f"{len(names)} file{'s' * (len(names) != 1)}: {', '.join(names)}"), err=True)
    typer.echo(directory)
    return ExitCode.OK
