"""`rogue weaknesses`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.options import Jobs, Out, Plugins, Settings, TestbedName, TrustsInventory
from rogue.harness.errors import ExitCode, StoppedError, termination_as_interrupt
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.search.objective import Measured
    from rogue.harness.search.weakness import Weakness

Finds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FIND]...",
        show_default=False,
        help="Files of findings; by default all that come with this checkout.",
    ),
]
Transport = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The transport that is tried; by default the one of each finding.",
    ),
]


PAGE: Final = "weaknesses-{}-{}.html"


def weaknesses(  # noqa: PLR0913  (one parameter per option)
    finds: Finds = None,
    transport: Transport = None,
    testbed: TestbedName = "simulator",
    out: Out = None,
    settings: Settings = None,
    jobs: Jobs = None,
    plugins: Plugins = None,
    trusts_inventory: TrustsInventory = False,
) -> ExitCode:
    """Print which known weaknesses a transport shares, or whether a finding holds on another testbed.

    Each finding is run on its own seeds, with the transport in the place of its own, and without congestion
    control: what the network shows without one as well is no weakness of the control. The last line on
    standard output is the path of a page.

    \b
      rogue weaknesses --transport mine --plugin mine.py
      rogue weaknesses results/mine-search/20261120T101500Z-3f9a1c/find.yml --testbed kernel
    """
    from rogue.harness.commands.opening import write_output
    from rogue.harness.experiment.find import find_experiment, found_files, load_named
    from rogue.harness.results.run_directory import DEFAULT_OUT
    from rogue.harness.search.weakness import judge, judged_text, read_weakness
    from rogue.harness.testbeds import ready_testbed

    place, changes, code = out or DEFAULT_OUT, tuple(settings or ()), tuple(plugins or ())
    found = ready_testbed(testbed, None, is_trusted=trusts_inventory, command="weaknesses")
    files = [Path(find_experiment(find)) for find in finds or ()] or found_files()
    tried = [read_weakness(file, load_named(str(file), changes, code), found, transport) for file in files]
    rows: list[tuple[str, str, str, str]] = []
    try:
        with termination_as_interrupt():
            for number, each in enumerate(tried, start=1):
                typer.echo(f"[{number}/{len(tried)}] {each.name}", err=True)
                measured = _measured(each, place, jobs)
                verdict, text = judge(measured, each.target), judged_text(measured, each.target)
                rows.append((each.name, each.title, verdict, text))
                typer.echo(printable(f"{each.name}: {verdict}; {text}"))
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; no page was written.", stop) from stop
    summary = _summary(rows, transport, testbed)
    page = place / PAGE.format((transport or "own").replace("+", "-"), Path(testbed).stem)
    write_output(page, _page(rows, summary, transport or f"Where they were found, on {testbed}"))
    typer.echo(printable(summary))
    typer.echo(page)
    return ExitCode.OK


def _measured(weakness: Weakness, place: Path, jobs: int | None) -> Measured:
    """Run a finding in a new run."""
    from rich.console import Console

    from rogue.harness.commands.run import jobs_at_once
    from rogue.harness.commands.runs import update_index_of
    from rogue.harness.plan.plan import Plan
    from rogue.harness.progress import ProgressDisplay
    from rogue.harness.results.run_directory import locked
    from rogue.harness.run import Workers, begin_run
    from rogue.harness.search.objective import Measured

    plan = weakness.plan
    if isinstance(plan, str):
        return Measured({}, problem=plan)
    run = begin_run(Plan(plan.loaded, plan.testbed, ()), place, ("rogue", *sys.argv[1:]), datetime.now(UTC))
    with locked(run.directory), ProgressDisplay(plan.cells, Console(stderr=True)) as display:
        workers = Workers(jobs_at_once(plan.testbed, jobs, None))
        measured = weakness.measure(run, workers, display)
    update_index_of([run.directory])
    return measured


def _summary(rows: Sequence[Sequence[str]], transport: str | None, testbed: str) -> str:
    from rogue.harness.search.weakness import SUMMED
    from rogue.reports.quantities import counted

    counts = Counter(row[2] for row in rows)
    words = ", ".join(f"{counts[verdict]} {text}" for verdict, text in SUMMED.items() if counts[verdict])
    who = transport or "The transport of each finding"
    return f"{who} on {testbed}, {counted(len(rows), 'finding')}: {words}."


def _page(rows: Sequence[Sequence[str]], summary: str, title: str) -> str:
    from rogue.reports.pages.search_pages import Part, SearchPage, Table, search_html

    head = ("Finding", "What it shows", "Verdict", "Measured")
    table = Table("Each finding of a search, run again on its own seeds", head, rows)
    footer = "A weakness that is not shared here may show at other values: a finding is one point."
    parts = [Part("Findings", tables=[table])]
    return search_html(SearchPage("Known weaknesses", title, [summary], parts, footer))
