"""`rogue export`: write tables, captures and timelines as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.commands.opening import open_runs
from rogue.harness.commands.options import AcceptsDamage, Plugins, RunDirectory, TrustsPlugins
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.terminal import notify
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.plugins.trust import Trust
    from rogue.reports.results import Results


def export(  # noqa: PLR0913  (one parameter per option)
    run: RunDirectory,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A directory that is not there yet.")
    ] = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Recorded packets, for Wireshark: a file for each cell.")
    ] = False,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="All tables by time, for Perfetto: a file for each cell.")
    ] = False,
    cells: Annotated[
        list[str] | None,
        typer.Option("--cell", metavar="ID", help="Of these files, only this cell's; repeatable."),
    ] = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    accepts_damage: AcceptsDamage = False,
) -> ExitCode:
    """Write a run's tables and measures as CSV files, in base units, into a directory beside the run.

    The last line on standard output is that directory; columns.csv in it says what each column is.
    Packets are there if the experiment measured them: `measure: [packets]`. An apostrophe stands before a
    text that a spreadsheet would take for a formula.

    \b
      rogue export results/quickstart/20261120T101500Z-3f9a1c
      rogue export results/quickstart/20261120T101500Z-3f9a1c --pcap
      rogue export results/quickstart/20261120T101500Z-3f9a1c --timeline --cell rogue-r1
    """
    from rogue.harness.plugins.trust import Trust

    kinds = tuple(kind for kind, is_asked in (("pcap", pcap), ("timeline", timeline)) if is_asked)
    trust = Trust(tuple(plugins or ()), trusts_plugins)
    return export_run(ExportOptions(run, kinds, tuple(cells or ()), out, trust, accepts_damage))


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What `rogue export` was asked for: tables as CSV, or a file of one of the kinds for each cell."""

    run: Path
    kinds: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    out: Path | None = None
    trust: Trust | None = None
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
    (manifest,) = open_runs([options.run], options.trust, accepts_damage=options.accepts_damage)
    suffix = (*options.kinds, "csv")[0]
    directory = options.out or options.run.resolve().with_name(f"{manifest.run_id}-{suffix}")
    if directory.exists():
        raise UsageError(
            f"export: {directory} is there already, expected a new directory; name one with --out."
        )
    return directory


def _write_tables(results: Results, directory: Path) -> ExitCode:
    from rogue.reports.export.csv_files import export

    names = export(results, directory)
    return _say(results.run.problems, names, directory)


def _write_cells(results: Results, options: ExportOptions, directory: Path) -> ExitCode:
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
        notify(problem)
    typer.echo(printable(f"{len(names)} file{'s' * (len(names) != 1)}: {', '.join(names)}"), err=True)
    typer.echo(directory)
    return ExitCode.OK
