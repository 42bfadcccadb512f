"""`rogue weaknesses`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.opening import write_output
from rogue.harness.commands.options import Jobs, Out, Plugins, Settings, TestbedName, TrustsInventory
from rogue.harness.commands.run import jobs_at_once
from rogue.harness.commands.runs import update_index_of
from rogue.harness.errors import ConfigError, ExitCode, HarnessError, StoppedError, termination_as_interrupt
from rogue.harness.testbeds import DEFAULT_TESTBED, ready_testbed
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.plan.plan import Plan
    from rogue.harness.results.recorded_run import Run
    from rogue.harness.search.base import Base
    from rogue.harness.search.weakness import Tried, Weakness
    from rogue.harness.testbeds.base import Testbed


Finds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FIND]...",
        show_default=False,
        help="Files of finds; by default all that come with this checkout.",
    ),
]


Transport = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Whom the finds are tried with; by default the transports that they were found in.",
    ),
]


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
    """Say which known weaknesses a transport shares, or whether a find holds on another testbed.

    Each find is run on its own seeds, with the transport in the place of the one that it was found in. The
    last line on standard output is the path of a page.

    \b
      rogue weaknesses --transport mine --plugin mine.py
      rogue weaknesses results/mine-search/20261120T101500Z-3f9a1c/find.yml --testbed kernel
    """
    options = WeaknessesOptions(
        finds=tuple(finds or ()), transport=transport, settings=tuple(settings or ()),
        arguments=tuple(sys.argv[1:]), testbed=testbed, out=out, jobs=jobs, plugins=tuple(plugins or ()),
        trusts_inventory=trusts_inventory,
    )  # fmt: skip
    return run_weaknesses(options)


REASON_LENGTH_MAX: Final = 160
"""Characters; what is expected may be a long list of names."""
PAGE: Final = "weaknesses-{}-{}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeaknessesOptions:
    """Options of `rogue weaknesses`, as given."""

    finds: tuple[str, ...] = ()
    """Files; none means all that come with this checkout."""
    transport: str | None = None
    """Whom they are tried with; None: those that they were found in."""
    settings: tuple[str, ...] = ()
    """What changes in each find."""
    arguments: tuple[str, ...]
    testbed: str = DEFAULT_TESTBED
    out: Path | None = None
    jobs: int | None = None
    plugins: tuple[Path, ...] = ()
    trusts_inventory: bool = False

    @property
    def place(self) -> Path:
        """Where the runs and the page are."""
        from rogue.harness.results.run_directory import DEFAULT_OUT

        return self.out or DEFAULT_OUT


def run_weaknesses(options: WeaknessesOptions) -> ExitCode:
    """Run each find, say what it gave, write the page, and print the page's path last."""
    from rogue.harness.search.weakness import Tried
    from rogue.harness.search.words import tried_line

    testbed = ready_testbed(options.testbed, None, is_trusted=options.trusts_inventory, command="weaknesses")
    made = [_made(Path(find), testbed, options) for find in _finds(options)]
    results: list[Tried] = []
    try:
        with termination_as_interrupt():
            for number, each in enumerate(made, start=1):
                typer.echo(f"[{number}/{len(made)}] {each.name}", err=True)
                results.append(each if isinstance(each, Tried) else _tried(each, options))
                typer.echo(printable(tried_line(results[-1])))
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; no page was written.", stop) from stop
    summary = _summary(results, options)
    who = (options.transport or "own").replace("+", "-")
    page = options.place / PAGE.format(who, Path(options.testbed).stem)
    write_output(page, _page(results, summary, options))
    typer.echo(printable(summary))
    typer.echo(page)
    return ExitCode.OK


def _finds(options: WeaknessesOptions) -> list[str]:
    from rogue.harness.experiment.find import find_experiment, found_files

    return [find_experiment(find) for find in options.finds] or [str(file) for file in found_files()]


def _made(find: Path, testbed: Testbed, options: WeaknessesOptions) -> Weakness | Tried:
    """Return a find ready to run, or why it cannot be tried with this transport."""
    from rogue.harness.experiment.find import load_named
    from rogue.harness.search.found_file import read_criterion
    from rogue.harness.search.question import make_target
    from rogue.harness.search.weakness import Tried, make_weakness

    loaded, aim = load_named(str(find), options.settings, options.plugins), read_criterion(find)
    try:
        return make_weakness(find, loaded, aim, testbed, options.transport)
    except HarnessError as error:
        title = loaded.experiment.title or loaded.experiment.name
        return Tried(find.stem, title, make_target(aim), reason=_reason(error))


def _reason(error: HarnessError) -> str:
    if isinstance(error, ConfigError):
        problem = error.problems[0]
        return shorten(f"{problem.key}: got {problem.got}, expected {problem.expected}", REASON_LENGTH_MAX)
    return str(error)


def _tried(weakness: Weakness, options: WeaknessesOptions) -> Tried:
    return try_weakness(weakness, options.place, ("rogue", *options.arguments), options.jobs)


def try_weakness(weakness: Weakness, place: Path, words: Sequence[str], jobs: int | None) -> Tried:
    """Run a find as a run of its own, begun with these words; return its numbers, or why it has none."""
    from rogue.harness.plan.plan import make_plan
    from rogue.harness.results.run_directory import locked
    from rogue.harness.run import begin_run
    from rogue.harness.search.weakness import Tried, tried

    base = weakness.base
    try:
        plan = _compared(make_plan(base.loaded, base.testbed), base)
    except ConfigError as error:
        return Tried(weakness.name, weakness.title, weakness.target, reason=_reason(error))
    refused = next((each.unsupported for each in plan.cells if each.unsupported is not None), None)
    if refused is not None:
        return Tried(weakness.name, weakness.title, weakness.target, reason=refused)
    run = begin_run(plan, place, words, datetime.now(UTC))
    with locked(run.directory):
        _work(run, plan, jobs)
    update_index_of([run.directory])
    return tried(weakness, run)


def _compared(plan: Plan, base: Base) -> Plan:
    """Return a plan with the cells of those transports alone that matter to the find."""
    shown = {each.shown for each in base.compared(base.loaded)}
    return replace(plan, cells=tuple(each for each in plan.cells if each.cell.transport.shown in shown))


def _work(run: Run, plan: Plan, jobs: int | None) -> None:
    from rich.console import Console

    from rogue.harness.progress import ProgressDisplay
    from rogue.harness.run import Workers, work

    with ProgressDisplay(plan.cells, Console(stderr=True)) as display:
        work(run, plan, plan.cells, Workers(jobs_at_once(plan.testbed, jobs, None)), display)


def _summary(results: Sequence[Tried], options: WeaknessesOptions) -> str:
    from rogue.harness.search.weakness import Verdict
    from rogue.reports.quantities import counted

    summed = {
        Verdict.SHARED: "shared",
        Verdict.PARTLY: "shared on some seeds",
        Verdict.NOT_SHARED: "not shared",
        Verdict.UNKNOWN: "that cannot be tried",
    }
    counts = Counter(each.verdict for each in results)
    who = options.transport or "The transport of each find"
    words = ", ".join(f"{counts[verdict]} {summed[verdict]}" for verdict in Verdict if counts[verdict])
    return f"{who} on {options.testbed}, {counted(len(results), 'find')}: {words}."


def _page(results: Sequence[Tried], summary: str, options: WeaknessesOptions) -> str:
    from rogue.harness.search.words import tried_text
    from rogue.reports.pages.search_pages import Weaknesses, WeaknessRow, weaknesses_html

    title = options.transport or f"Where they were found, on {options.testbed}"
    rows = [WeaknessRow(each.name, each.title, each.verdict, tried_text(each)) for each in results]
    return weaknesses_html(Weaknesses(title, summary, rows))
