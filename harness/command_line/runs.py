"""`rogue report`, `rogue rm` and whatever else one does with runs that are there: arguments and help."""

from pathlib import Path
from typing import Annotated

import typer

from rogue.harness.command_line import completion
from rogue.harness.command_line.experiments import Plugins, TrustsPlugins
from rogue.harness.errors import ExitCode

RunDirectory = Annotated[
    Path, typer.Argument(metavar="RUN", help="Directory of a run.", autocompletion=completion.runs)
]

AcceptsDamage = Annotated[
    bool, typer.Option("--accept-damage", help="Go on although files are not as the run wrote them.")
]


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Directories of runs.", autocompletion=completion.runs),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the page goes instead.", dir_okay=False)
    ] = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    accepts_damage: AcceptsDamage = False,
) -> ExitCode:
    """Build report.html again, for one run or for several together.

    The report of several runs stands in a directory of its own, below results/reports; that of a run that
    is still going stands beside the run, and has the cells that are finished.

    \b
      rogue report results/quickstart/20261120T101500Z-3f9a1c
      rogue report results/quickstart/* --out both.html
    """
    from rogue.harness.commands.report import build_report
    from rogue.harness.plugins.trust import Trust

    return build_report(runs, out, Trust(tuple(plugins or ()), trusts_plugins), accepts_damage=accepts_damage)


def compare(  # noqa: PLR0913  (one parameter per option)
    run_a: Annotated[
        Path,
        typer.Argument(metavar="RUN_A", help="Directory of a run.", autocompletion=completion.runs),
    ],
    run_b: Annotated[
        Path,
        typer.Argument(metavar="RUN_B", help="Directory of another.", autocompletion=completion.runs),
    ],
    everything: Annotated[bool, typer.Option("--all", help="Also what does not differ.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page, too: each figure with both runs.")
    ] = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    accepts_damage: AcceptsDamage = False,
) -> ExitCode:
    """Say how two runs differ, measure by measure, and whether that is more than chance.

    Each repetition counts as one value. Runs differ if the Mann-Whitney test says so at 5 % and the
    bootstrap interval of the difference leaves zero out; "not enough runs" is an answer.

    \b
      rogue compare results/quickstart/20261120T101500Z-3f9a1c results/quickstart/20261121T093000Z-77d02e
    """
    from rogue.harness.commands.compare import compare_runs
    from rogue.harness.plugins.trust import Trust

    trust = Trust(tuple(plugins or ()), trusts_plugins)
    return compare_runs(run_a, run_b, trust, everything=everything, page=html, accepts_damage=accepts_damage)


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
    from rogue.harness.commands.report import ExportOptions, export_run
    from rogue.harness.plugins.trust import Trust

    kinds = tuple(kind for kind, is_asked in (("pcap", pcap), ("timeline", timeline)) if is_asked)
    trust = Trust(tuple(plugins or ()), trusts_plugins)
    return export_run(ExportOptions(run, kinds, tuple(cells or ()), out, trust, accepts_damage))


def figures(  # noqa: PLR0913  (one parameter per option)
    run: RunDirectory,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="A name of `rogue list figures`; repeatable.",
            autocompletion=completion.figures,
        ),
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Some of these with commas; tex is the tables, in LaTeX.")
    ] = "pdf,svg,png,csv",
    width: Annotated[str, typer.Option(help="Width of each figure, in in, cm, mm or pt.")] = "3.3in",
    style: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A matplotlib style sheet, put over the report's look."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A directory that is not there yet.")
    ] = None,
    plugins: Plugins = None,
    trusts_plugins: TrustsPlugins = False,
    accepts_damage: AcceptsDamage = False,
) -> ExitCode:
    """Write a run's figures for a paper: as PDF, SVG, PNG, with their data and captions, beside the run.

    Fonts are embedded, text in SVG is outlined. NAME.csv has what is drawn; NAME.tex is a caption for LaTeX,
    NAME.txt the same as text. The last line on standard output is the directory.

    \b
      rogue figures results/quickstart/20261120T101500Z-3f9a1c
      rogue figures results/quickstart/20261120T101500Z-3f9a1c --only throughput --width 84mm --format pdf
    """
    from rogue.harness.commands.figures import FigureOptions, write_run_figures
    from rogue.harness.plugins.trust import Trust

    trust = Trust(tuple(plugins or ()), trusts_plugins)
    wanted = FigureOptions(run, tuple(only or ()), formats, width, style, out, trust, accepts_damage)
    return write_run_figures(wanted)


def verify(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Directories of runs.", autocompletion=completion.runs),
    ],
    signer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who must have signed the manifest.")
    ] = None,
    allowed: Annotated[
        Path,
        typer.Option("--allowed-signers", metavar="FILE", help="Whose keys are whose (ssh-keygen(1))."),
    ] = Path("~/.ssh/allowed_signers"),
) -> ExitCode:
    """Compare every file of runs with the checksums in their manifests, and these with who signed them.

    Says what differs, and one line for each run; the exit code is that of the worst.

    \b
      rogue verify results/quickstart/20261120T101500Z-3f9a1c
      rogue verify results/quickstart/*
      rogue verify results/quickstart/20261120T101500Z-3f9a1c --signer alice@example.org
    """
    from rogue.harness.commands.verify import verify_runs

    return verify_runs(runs, signer, allowed)


def sign(
    run: RunDirectory,
    key: Annotated[
        Path, typer.Option(metavar="FILE", help="An SSH key: private, or public with its agent.")
    ] = Path("~/.ssh/id_ed25519"),
) -> ExitCode:
    """Sign a run's manifest with an SSH key, so that others can verify whose it is.

    The signature is manifest.json.sig in the run. A report that is built again makes it invalid.

    \b
      rogue sign results/quickstart/20261120T101500Z-3f9a1c
    """
    from rogue.harness.commands.verify import sign_run

    return sign_run(run, key)


def tag(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Directory of the run.", autocompletion=completion.runs)
    ],
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="[TAG]...", help="Words; without any it has none.")
    ] = None,
) -> ExitCode:
    """Give a run tags, in place of those that it has, for the list of runs to show.

    They stand in tags.json beside the runs of a results directory; the run stays as it is.

    \b
      rogue tag results/quickstart/20261120T101500Z-3f9a1c submitted figure-3
    """
    from rogue.harness.commands.manage_runs import tag_run

    return tag_run(run, tags or [])


def rm(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Directories of runs.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
) -> ExitCode:
    """Delete runs, or reports over several, without a way back.

    Says what will be deleted, and asks. A run that a process works on, and a directory that is no run, are
    refused. What Ctrl-C leaves is no run any more and goes with the next call.

    \b
      rogue rm results/quickstart/20261120T101500Z-3f9a1c
      rogue rm results/quickstart/20261120T* --yes
    """
    from rogue.harness.commands.remove_runs import remove_runs

    return remove_runs(runs, yes)


def watch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run that is going.")],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page.", show_default="one that is free")
    ] = 0,
) -> ExitCode:
    """Show a run that is going as a page on this computer: cells, failures, time left, figures so far.

    Prints the address. The page fetches itself again; it ends with the run as its report, and so does this
    command. The run is only read: Ctrl-C ends the page, and the run goes on. `rogue run --live` shows
    the same from the start, and how far each cell is.

    \b
      rogue watch results/quickstart/20261120T101500Z-3f9a1c
      rogue watch results/quickstart/20261120T101500Z-3f9a1c --port 8642
    """
    from rogue.harness.commands.watch import watch_run

    return watch_run(run, port)
