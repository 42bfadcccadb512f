"""`rogue compare`."""

from pathlib import Path

import typer

from rogue.harness.columns import align
from rogue.harness.commands.opening import opened
from rogue.harness.errors import UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.plugins.trust import NOBODY, Trust
from rogue.harness.telling import tell
from rogue.workloads.printable import printable


def compare_runs(
    first: Path, second: Path, trust: Trust = NOBODY, *, everything: bool, accepts_damage: bool = False
) -> ExitCode:
    """Print how two runs differ, and whether that is more than chance."""
    opened([first, second], trust, accepts_damage=accepts_damage)
    from rogue.reports.comparison.two_runs import HEAD, compare, conclusions, shown, told_apart
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    results = Results(Run(first)), Results(Run(second))
    compared = compare(*results)
    for each in results:
        for problem in each.run.problems:
            tell(f"{each.run.directory}: {problem}")
    if not compared:
        expected = "two runs with a transport and factor point in common that finished in both"
        raise UsageError(f"compare: got {first} and {second}, expected {expected}.")
    lines = [f"A: {first}", f"B: {second}", *told_apart(*results), ""]
    rows = [each.row for each in shown(compared, results[0], everything=everything)]
    lines += [*align([HEAD, *rows]), "", *conclusions(compared)]
    if len(rows) < len(compared):
        lines.append(f"{len(compared) - len(rows)} comparisons are not shown; --all shows them.")
    typer.echo("\n".join(map(printable, lines)))
    return ExitCode.OK
