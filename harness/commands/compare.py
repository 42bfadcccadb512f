"""`rogue compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.commands import completion
from rogue.harness.commands.opening import open_runs
from rogue.harness.commands.options import AcceptsDamage, Plugins, TrustsPlugins
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.terminal import CountDisplay, align, notify
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    pass


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
    from rogue.harness.plugins.trust import Trust
    from rogue.reports.comparison import two_runs
    from rogue.reports.pages.build import write_comparison
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    if html is not None and (html.is_dir() or not html.parent.is_dir()):
        raise UsageError(f"--html: got {html}, expected a file in a directory that there is; name another.")
    open_runs([run_a, run_b], Trust(tuple(plugins or ()), trusts_plugins), accepts_damage=accepts_damage)
    results = Results(Run(run_a)), Results(Run(run_b))
    compared = two_runs.compare(*results)
    for each in results:
        for problem in each.run.problems:
            notify(f"{each.run.directory}: {problem}")
    if not compared:
        expected = "two runs with a transport and factor point in common that finished in both"
        raise UsageError(f"compare: got {run_a} and {run_b}, expected {expected}.")
    lines = [f"A: {run_a}", f"B: {run_b}", *two_runs.other_differences(*results), ""]
    rows = [each.row for each in two_runs.shown(compared, results[0], everything=everything)]
    lines += [*align([two_runs.HEAD, *rows]), "", *two_runs.conclusions(compared)]
    if len(rows) < len(compared):
        lines.append(f"{len(compared) - len(rows)} comparisons are not shown; --all shows them.")
    typer.echo("\n".join(map(printable, lines)))
    if html is not None:
        with CountDisplay(sys.stderr) as counted:
            write_comparison(list(compared), *results, html, counted)
        typer.echo(f"page: {html}", err=True)
    return ExitCode.OK
