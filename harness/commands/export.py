"""`rogue export` and `rogue figures`: write tables, captures, timelines and figures of a run as files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.commands import options as opt
from rogue.harness.commands.opening import open_runs
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.plugins.trust import Trust
from rogue.harness.terminal import CountDisplay, inform, notify
from rogue.reports.errors import ReportError
from rogue.reports.quantities import counted
from rogue.workloads.printable import did_you_mean

if TYPE_CHECKING:
    from rogue.reports.export.figure_files import FigureResult, FilesWanted
    from rogue.reports.results import Results

NewDirectory = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A new directory; by default beside the run.")
]


def export(
    run: opt.RunDirectory,
    out: NewDirectory = None,
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
    plugins: opt.Plugins = None,
    trusts_plugins: opt.TrustsPlugins = False,
    accepts_damage: opt.AcceptsDamage = False,
) -> ExitCode:
    """Write a run's tables, packets or timelines for other programs.

    The last line on standard output is that directory; columns.csv in it explains each column. Packets are
    there if the experiment measured them: `measure: [packets]`. An apostrophe precedes a text that a
    spreadsheet would take for a formula.

    \b
      rogue export latest
      rogue export quickstart --timeline --cell rogue-r1
    """
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
    directory = _new_directory("export", out or run.resolve().with_name(f"{manifest.run_id}-{kind}"))
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
    inform(f"{counted(len(names), 'file')}: {', '.join(names)}")
    typer.echo(directory)
    return ExitCode.OK


def figures(
    run: opt.RunDirectory,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="A name of `rogue list figures`; repeatable.",
            autocompletion=completion.figures,
        ),
    ] = None,
    panel: Annotated[
        str, typer.Option(metavar="TITLE", help="With one --only: draw only the panels of this title.")
    ] = "",
    formats: Annotated[
        str, typer.Option("--format", help="Some of these with commas; tex is the tables, in LaTeX.")
    ] = "pdf,svg,png,csv",
    width: Annotated[str, typer.Option(help="Width of each figure, in in, cm, mm or pt.")] = "3.3in",
    style: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A matplotlib style sheet, applied over the report's look."),
    ] = None,
    out: NewDirectory = None,
    plugins: opt.Plugins = None,
    trusts_plugins: opt.TrustsPlugins = False,
    accepts_damage: opt.AcceptsDamage = False,
) -> ExitCode:
    """Write a run's figures for a paper, with their data and captions.

    Fonts are embedded, text in SVG is outlined. NAME.csv has what is drawn; NAME.tex is a caption for LaTeX,
    NAME.txt the same as text. The last line on standard output is the directory.

    \b
      rogue figures latest
      rogue figures quickstart --only throughput --width 84mm --format pdf
      rogue figures latest --only size_slowdowns --panel p99
    """
    from rogue.reports.claims import hold_against, read_claims
    from rogue.reports.export.figure_files import FilesWanted, read_style_sheet
    from rogue.reports.figures import FIGURES
    from rogue.reports.pages.tables import latex_tables
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    trust = Trust(tuple(plugins or ()), trusts_plugins)
    (manifest,) = open_runs([run], trust, accepts_damage=accepts_damage)
    width_inches, kinds = parsed_width(width), parsed_formats(formats)
    directory = _new_directory("figures", out or run.resolve().with_name(f"{manifest.run_id}-figures"))
    names = _known_names(only or (), list(FIGURES))
    if panel and len(names) > 1:
        got = f"got {panel!r} for {len(names)} figures, expected one figure"
        raise UsageError(f"--panel: {got}; name it with --only.")
    try:
        sheet = read_style_sheet(style) if style else {}
        results = Results(Run(run))
    except ReportError as error:
        raise UsageError(str(error)) from error
    hold_against(read_claims(), results)
    names = _drawable(results, names, is_named=bool(only))
    tables = latex_tables(results) if TABLES in kinds else {}
    drawn = tuple(kind for kind in kinds if kind != TABLES)
    wanted = FilesWanted(width_inches, tuple(names), drawn, sheet, tables, panel)
    try:
        written = _write(results, wanted, directory)
    except ReportError as error:
        raise UsageError(str(error)) from error
    for problem in results.run.problems:
        notify(problem)
    of_tables = f" and {counted(len(tables), 'table')}" if tables else ""
    inform(f"{len(written)} files of {counted(len(names), 'figure')}{of_tables}.")
    typer.echo(directory)
    return ExitCode.OK


def _new_directory(command: str, directory: Path) -> Path:
    if directory.exists():
        expected = "expected a new directory; name one with --out"
        raise UsageError(f"{command}: {directory} is there already, {expected}.")
    return directory


INCHES: Final = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Units of a width; a point is TeX's, in which \\columnwidth is given."""
TABLES: Final = "tex"
"""The format of tables: LaTeX."""
WIDTH_INCHES: Final = (1.5, 30.0)
PAGE_HEIGHT_INCHES: Final = 9.2
"""Height that a page of a paper has for a figure and its caption."""
TYPE_POINTS_MIN: Final = 6.0


def parsed_width(text: str) -> float:
    """Return a width in inches."""
    number, unit = text.strip().rstrip(ascii_lowercase), text.strip().lstrip(f"{digits}. ")
    low, high = WIDTH_INCHES
    try:
        width = float(number) * INCHES[unit]
    except (ValueError, KeyError):
        expected = f"a number and one of {', '.join(INCHES)}"
        advice = "a column of a paper is 3.3in or 84mm, for example"
        raise UsageError(f"--width: got {text!r}, expected {expected}; {advice}.") from None
    if not low <= width <= high:
        raise UsageError(f"--width: got {text}, expected {low:g}in to {high:g}in; choose a width between.")
    return width


def parsed_formats(text: str) -> tuple[str, ...]:
    """Return the formats of a list such as `pdf,svg`, each once."""
    from rogue.reports.export.figure_files import FORMATS

    named, known = [part.strip().lower() for part in text.split(",")], (*FORMATS, TABLES)
    if wrong := [part for part in named if part not in known]:
        expected = f"some of {','.join(known)}; write them with commas"
        raise UsageError(f"--format: got {wrong[0]!r}, expected {expected}.")
    return tuple(dict.fromkeys(named))


def _known_names(only: Sequence[str], known: list[str]) -> list[str]:
    """Return the named figures in the report's order; all without any name."""
    for name in only:
        if name not in known:
            advice = did_you_mean(name, known, "`rogue list figures` explains each")
            raise UsageError(f"--only: got {name!r}, expected one of {', '.join(known)}; {advice}.")
    return [name for name in known if name in only] if only else known


def _drawable(results: Results, names: list[str], *, is_named: bool) -> list[str]:
    """Return the figures that the run can draw; UsageError unless that includes all that are named."""
    from rogue.reports.export.figure_files import skipped_figures

    skipped = skipped_figures(results, names)
    drawable = [name for name in names if name not in skipped]
    if skipped and (is_named or not drawable):
        reasons = [f"  {name}: {reason}" for name, reason in skipped.items()]
        which = "these figures" if len(skipped) > 1 else "this figure"
        raise UsageError(f"figures: the run cannot draw {which}; leave it out:", *reasons)
    for name, reason in skipped.items():
        inform(f"{name}: not drawn. {reason}")
    return drawable


def _write(results: Results, wanted: FilesWanted, directory: Path) -> list[str]:
    """Write the files, and show the progress on standard error."""
    from rogue.reports.export.figure_files import write_figures

    numbers = count(1)
    with CountDisplay(sys.stderr) as display:

        def on_done(result: FigureResult) -> None:
            number, total = next(numbers), len(wanted.names)
            inform(f"[{number}/{total}] {_described(result)}")
            display(number, total, "drawing figures")

        return write_figures(results, wanted, directory, on_done)


def _described(result: FigureResult) -> str:
    """Return the size of a figure, and what a paper would reject about it."""
    width, height = result.width_inches, result.height_inches
    text = f"{result.name}: {width:.2f} x {height:.2f} in, text from {result.type_points:.1f} pt"
    if result.type_points < TYPE_POINTS_MIN - 0.05:
        text += "; below 6 pt, raise the sizes in the style sheet"
    if height > PAGE_HEIGHT_INCHES:
        text += "; higher than a page, a larger --width puts panels beside each other"
    return text
