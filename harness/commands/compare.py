"""`rogue compare`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rogue.harness.commands.opening import open_runs
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.plugins.trust import NOBODY, Trust
from rogue.harness.terminal import CountDisplay, align, notify
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.reports.comparison.two_runs import Compared
    from rogue.reports.results import Results


def compare_runs(  # noqa: PLR0913  (one parameter per option)
    first: Path,
    second: Path,
    trust: Trust = NOBODY,
    *,
    everything: bool,
    page: Path | None = None,
    accepts_damage: bool = False,
) -> ExitCode:
    """Print how two runs differ, and whether that is more than chance; `page` is a file to write it to."""
    if page is not None and (page.is_dir() or not page.parent.is_dir()):
        raise UsageError(f"--html: got {page}, expected a file in a directory that there is; name another.")
    open_runs([first, second], trust, accepts_damage=accepts_damage)
    from rogue.reports.comparison.two_runs import HEAD, compare, conclusions, shown, told_apart
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    results = Results(Run(first)), Results(Run(second))
    compared = compare(*results)
    for each in results:
        for problem in each.run.problems:
            notify(f"{each.run.directory}: {problem}")
    if not compared:
        expected = "two runs with a transport and factor point in common that finished in both"
        raise UsageError(f"compare: got {first} and {second}, expected {expected}.")
    lines = [f"A: {first}", f"B: {second}", *told_apart(*results), ""]
    rows = [each.row for each in shown(compared, results[0], everything=everything)]
    lines += [*align([HEAD, *rows]), "", *conclusions(compared)]
    if len(rows) < len(compared):
        lines.append(f"{len(compared) - len(rows)} comparisons are not shown; --all shows them.")
    typer.echo("\n".join(map(printable, lines)))
    if page is not None:
        _write_page(compared, results, page)
    return ExitCode.OK


def _write_page(compared: "Sequence[Compared]", results: "tuple[Results, Results]", page: Path) -> None:
    """Write the page, and say on standard error how far that is and where it stands."""
    from rogue.reports.pages.build import write_comparison

    with CountDisplay(sys.stderr) as counted:
        write_comparison(list(compared), *results, page, counted)
    typer.echo(f"page: {page}", err=True)
