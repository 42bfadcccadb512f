"""`rogue export`: write tables, captures and timelines as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.commands.opening import open_runs
from rogue.harness.commands.options import AcceptsDamage, Plugins, RunDirectory, TrustsPlugins
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.terminal import notify
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    pass


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
    from rogue.reports.errors import ReportError
    from rogue.reports.export import csv_files
    from rogue.reports.export.cell_files import write_cell_files
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    kind = "pcap" if pcap else "timeline" if timeline else "csv"
    if pcap and timeline:
        raise UsageError("export: got --pcap and --timeline, expected one of them; call it once for each.")
    if cells and kind == "csv":
        raise UsageError("export: got --cell alone, expected --pcap or --timeline with it; add one.")
    trust = Trust(tuple(plugins or ()), trusts_plugins)
    (manifest,) = open_runs([run], trust, accepts_damage=accepts_damage)
    directory = out or run.resolve().with_name(f"{manifest.run_id}-{kind}")
    if directory.exists():
        raise UsageError(
            f"export: {directory} is there already, expected a new directory; name one with --out."
        )
    results = Results(Run(run))
    try:
        notes: Sequence[str] = ()
        if kind == "csv":
            names = csv_files.export(results, directory)
        else:
            names, notes = write_cell_files(results, kind, directory, cells or ())
    except ReportError as error:
        raise UsageError(f"export: {error}.") from error
    for problem in [*results.run.problems, *notes]:
        notify(problem)
    typer.echo(printable(f"{len(names)} file{'s' * (len(names) != 1)}: {', '.join(names)}"), err=True)
    typer.echo(directory)
    return ExitCode.OK
