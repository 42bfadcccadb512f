"""`rogue search`, `rogue sensitivity` and `rogue weaknesses`."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from rogue.harness.commands import completion
from rogue.harness.commands import options as opt
from rogue.harness.commands.opening import write_output
from rogue.harness.commands.run import jobs_at_once
from rogue.harness.errors import ExitCode, StoppedError, termination_as_interrupt
from rogue.harness.plugins.trust import Trust
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.results.run_directory import locked
from rogue.harness.terminal import error_console, inform
from rogue.harness.testbeds import ready_testbed
from rogue.reports.quantities import counted
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.search.finding import Verdict, Weakness
    from rogue.harness.search.objective import Measured
    from rogue.harness.testbeds.base import Testbed

IsPlan = Annotated[bool, typer.Option("--plan", "--dry-run", help="Print the expected time; run nothing.")]
WEAKNESSES_PAGE: Final = "weaknesses-{}-{}.html"


def search(
    experiment: opt.OptionalExperiment = "",
    space: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The keys that may change, the aim, and the budget.",
            autocompletion=completion.spaces,
        ),
    ] = None,
    worst: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="The measure whose worst value is searched; replaces FILE's."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="TRANSPORT", help="Divide by the same measure of this transport.")
    ] = None,
    is_plan: IsPlan = False,
    has_baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="Also draw random values with the same budget.")
    ] = True,
    testbed: opt.TestbedName = "simulator",
    out: opt.Out = None,
    settings: opt.Settings = None,
    jobs: opt.Jobs = None,
    resume: opt.Resume = None,
    dask: opt.Dask = None,
    plugins: opt.Plugins = None,
    trusts_plugins: opt.TrustsPlugins = False,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Find values at which a measure is worst; confirm them on new seeds.

    The space file has a range for each key of the experiment that may change. A finding that the network
    shows without congestion control as well is left out. The same file and seeds give the same cells with
    any number of jobs. The last line on standard output is the search's directory.

    \b
      rogue search experiments/found/start/livelock.yml --space experiments/found/spaces/livelock.yml --plan
      rogue search --resume livelock-search
    """
    from rogue.harness.commands.growing_run import GrowingOptions, run_search

    aim = {"metric": worst, "against": against}
    return run_search(
        GrowingOptions(
            command="search", experiment=experiment, ranges=space, settings=settings, testbed=testbed,
            out=out, jobs=jobs, resume=resume, dask=dask, trust=Trust(tuple(plugins or ()), trusts_plugins),
            trusts_inventory=trusts_inventory, is_plan=is_plan, has_baseline=has_baseline,
            aim={key: value for key, value in aim.items() if value is not None},
        )
    )  # fmt: skip


def sensitivity(
    experiment: opt.OptionalExperiment = "",
    vary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The keys that vary, and their bounds.")
    ] = None,
    claims: Annotated[
        list[str] | None,
        typer.Option("--claim", metavar="ID", help="Analyse what moves this claim; repeatable."),
    ] = None,
    is_plan: IsPlan = False,
    testbed: opt.TestbedName = "simulator",
    out: opt.Out = None,
    settings: opt.Settings = None,
    jobs: opt.Jobs = None,
    resume: opt.Resume = None,
    dask: opt.Dask = None,
    plugins: opt.Plugins = None,
    trusts_plugins: opt.TrustsPlugins = False,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Print which keys of an experiment move a measure or a claim.

    Morris's screening moves each key a few times, alone, from random points, with the same seeds before and
    after. The file may ask for Sobol indices of the leading keys, and for a small change that turns a claim.
    The last line on standard output is the directory.

    \b
      rogue sensitivity my.yml --vary vary.yml
      rogue sensitivity controls/dcqcn-delay --set 'factors={}' --claim X-2-10 --vary vary.yml
    """
    from rogue.harness.commands.growing_run import GrowingOptions, run_sensitivity

    return run_sensitivity(
        GrowingOptions(
            command="sensitivity", experiment=experiment, ranges=vary, settings=settings, testbed=testbed,
            out=out, jobs=jobs, resume=resume, dask=dask, trust=Trust(tuple(plugins or ()), trusts_plugins),
            trusts_inventory=trusts_inventory, is_plan=is_plan, claims=claims or (),
        )
    )  # fmt: skip


def weaknesses(
    findings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FINDING]...",
            show_default=False,
            help="Names or files of findings; by default all that come with this checkout.",
        ),
    ] = None,
    transport: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The transport to try, a name or {name: …, …}; by default each finding's."
        ),
    ] = None,
    testbed: opt.TestbedName = "simulator",
    out: opt.Out = None,
    settings: opt.Settings = None,
    jobs: opt.Jobs = None,
    plugins: opt.Plugins = None,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Print which known weaknesses a transport shares.

    Each finding is run on its own seeds, with the transport in the place of its own, and without congestion
    control: if the network shows the same without it, the control is not to blame. The last line on standard
    output is the path of a page.

    \b
      rogue weaknesses --transport roce+mine --plugin mine.py
      rogue weaknesses --transport '{name: rogue, cc: halve}' --plugin halve.py
      rogue weaknesses results/mine-search/20261120T101500Z-3f9a1c/find.yml --testbed kernel
    """
    place = out or DEFAULT_OUT
    bed = ready_testbed(testbed, None, is_trusted=trusts_inventory, command="weaknesses")
    rows = []
    for row in tried_weaknesses(
        findings or (), transport, bed, place, tuple(settings or ()), tuple(plugins or ()), jobs
    ):
        rows.append(row)
        typer.echo(printable(f"{row.name}: {row.verdict}; {row.text}"))
    summary = _summary(rows, transport, testbed)
    named = re.sub(r"[^A-Za-z0-9.-]+", "-", transport or "own").strip("-")
    page = place / WEAKNESSES_PAGE.format(named, Path(testbed).stem)
    write_output(page, _page(rows, summary, transport or f"Where they were found, on {testbed}"))
    typer.echo(printable(summary))
    typer.echo(page)
    return ExitCode.OK


class TriedWeakness(NamedTuple):
    """A known weakness, and whether a transport shares it."""

    name: str
    title: str
    verdict: Verdict
    text: str


def tried_weaknesses(
    findings: Sequence[str],
    transport: str | None,
    bed: Testbed,
    place: Path,
    changes: tuple[str, ...],
    code: Sequence[Path],
    jobs: int | None,
) -> Iterator[TriedWeakness]:
    """Try findings, by default all of this checkout, one after the other."""
    from rogue.harness.experiment.find import find_experiment, found_files, load_named
    from rogue.harness.search.finding import judge, judged_text, read_weakness

    shipped = {file.stem: file for file in found_files()}
    files = [shipped.get(each) or Path(find_experiment(each)) for each in findings] or found_files()
    tried = [read_weakness(file, load_named(str(file), changes, code), bed, transport) for file in files]
    try:
        with termination_as_interrupt():
            for number, each in enumerate(tried, start=1):
                inform(f"[{number}/{len(tried)}] {each.name}")
                measured = _measured(each, place, jobs)
                verdict, text = judge(measured, each.target), judged_text(measured, each.target)
                yield TriedWeakness(each.name, each.title, verdict, text)
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; no page was written.", stop) from stop


def _measured(weakness: Weakness, place: Path, jobs: int | None) -> Measured:
    """Run a finding in a new run."""
    from rogue.harness.plan.plan import Plan
    from rogue.harness.progress import ProgressDisplay
    from rogue.harness.run import Workers, begin_run
    from rogue.harness.search.objective import Measured

    plan = weakness.plan
    if isinstance(plan, str):
        return Measured({}, problem=plan)
    run = begin_run(Plan(plan.loaded, plan.testbed, ()), place, ("rogue", *sys.argv[1:]), datetime.now(UTC))
    with locked(run.directory), ProgressDisplay(plan.cells, error_console()) as display:
        return weakness.measure(run, Workers(jobs_at_once(plan.testbed, jobs, None)), display)


def _summary(rows: Sequence[TriedWeakness], transport: str | None, testbed: str) -> str:
    from rogue.harness.search.finding import COUNTED

    counts = Counter(row.verdict for row in rows)
    words = ", ".join(f"{counts[verdict]} {text}" for verdict, text in COUNTED.items() if counts[verdict])
    who = transport or "The transport of each finding"
    return f"{who} on {testbed}, {counted(len(rows), 'finding')}: {words}."


def _page(rows: Sequence[TriedWeakness], summary: str, title: str) -> str:
    from rogue.reports.pages.search_pages import Part, SearchPage, Table, search_html

    head = ("Finding", "What it shows", "Verdict", "Measured")
    table = Table("Each finding of a search, run again on its own seeds", head, rows)
    footer = "A weakness that is not shared here may show at other values: a finding is one point."
    return search_html(
        SearchPage("Known weaknesses", title, [summary], [Part("Findings", tables=[table])], footer)
    )
