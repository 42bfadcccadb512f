"""`rogue run`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import options as opt
from rogue.harness.commands.plan import plan
from rogue.harness.commands.report import try_to_report
from rogue.harness.commands.watch import show_live
from rogue.harness.errors import (
    ClusterLostError,
    ExitCode,
    HarnessError,
    StoppedError,
    UsageError,
    termination_as_interrupt,
)
from rogue.harness.plugins.trust import NO_TRUST, Trust, changed_plugins, load_trusted
from rogue.harness.provisioning.named_inventory import TRUST, is_virtual
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.results.provenance import available_cores
from rogue.harness.results.recorded_run import Run, changed_data, kept_data
from rogue.harness.results.run_directory import locked, read_manifest
from rogue.harness.terminal import (
    CountDisplay,
    call_again,
    error_console,
    inform,
    is_quiet,
    notify,
    print_document,
)
from rogue.harness.testbeds import DEFAULT_TESTBED, TESTBEDS, ready_testbed
from rogue.reports.quantities import counted
from rogue.workloads.manifest import Manifest
from rogue.workloads.records import CellStatus

if TYPE_CHECKING:
    from rogue.harness.execution.dask_slot import Cluster
    from rogue.harness.execution.scheduler import Watcher
    from rogue.harness.experiment.load import LoadedExperiment
    from rogue.harness.plan.plan import Plan, PlannedCell
    from rogue.harness.run import Workers
    from rogue.harness.testbeds.base import Testbed


def run(
    experiment: opt.OptionalExperiment = "",
    testbed: opt.TestbedName = "simulator",
    out: opt.Out = None,
    settings: opt.Settings = None,
    seed: opt.Seed = None,
    jobs: opt.Jobs = None,
    resume: opt.Resume = None,
    only_failed: Annotated[
        bool, typer.Option("--only-failed", help="With --resume: only what failed.")
    ] = False,
    only_cell: opt.OnlyCell = None,
    dask: opt.Dask = None,
    is_live: Annotated[
        bool, typer.Option("--live", help="Show the run as a page on this computer; prints the address.")
    ] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Print the plan; run nothing.")] = False,
    as_json: opt.AsJson = False,
    plugins: opt.Plugins = None,
    trusts_plugins: opt.TrustsPlugins = False,
    allows_long: Annotated[
        bool, typer.Option("--allow-long", help="Run it even if it should take more than a day or 20 GB.")
    ] = False,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Run an experiment, store what it measures and build the report.

    The last line on standard output is the run's directory; everything else goes to standard error.
    --json prints instead the directory as `run`, the `report`, the `status`, the `exit_code` and the `cells`.

    \b
      rogue run experiments/quickstart.yaml
      rogue run quickstart --set workload.senders=4 --set repetitions=1
      rogue run --resume latest
    """
    from rogue.harness.experiment.find import load_named

    changes, files = opt.with_seed(settings, seed), tuple(plugins or ())
    options = RunOptions(
        testbed=testbed, out=out, jobs=jobs, resume=resume, dask=dask, arguments=tuple(sys.argv[1:]),
        only_failed=only_failed, only_cell=only_cell, is_live=is_live, as_json=as_json,
        allows_long=allows_long, trust=Trust(files, trusts_plugins), trusts_inventory=trusts_inventory,
    )  # fmt: skip
    options.check(experiment, changes, is_dry=is_dry)
    if is_dry:
        return plan(experiment, testbed, settings, seed, jobs, as_json, plugins, trusts_inventory, only_cell)
    return run_experiment(load_named(experiment, changes, files) if resume is None else None, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run, except the experiment itself."""

    testbed: str
    out: Path | None
    """None for the default directory of runs."""
    jobs: int | None
    resume: Path | None
    """The run that continues; None to start one."""
    dask: str | None
    """Address of a scheduler; None for processes on this computer."""
    arguments: tuple[str, ...]
    """The command line, for the manifest."""
    only_failed: bool = False
    only_cell: str | None = None
    is_live: bool = False
    """True if a page on this computer shows it."""
    as_json: bool = False
    allows_long: bool = False
    """True if it may exceed the budget of harness/plan/text.py."""
    trust: Trust = NO_TRUST
    """With `resume`: which code of the run may run."""
    trusts_inventory: bool = False
    """True if the inventory may be a program."""
    is_cheap_first: bool = False
    """True if cells run in the order of their expected time, within each repetition."""

    def check(self, experiment: str, settings: Sequence[str], *, is_dry: bool) -> None:
        """UsageError for options that exclude each other."""
        if self.resume is not None:
            if self.out is not None:
                got = f"--out {self.out}, expected the run alone; it stays where it is"
                raise UsageError(f"--resume: got {got}.")
            if experiment or settings or self.only_cell or is_dry:
                got = "--dry-run" if is_dry else "an experiment or options that change it"
                raise UsageError(f"--resume: got {got}, expected the run alone, as it was started.")
        elif self.trust.is_whole:
            got = "--trust-plugins: got no --resume, expected a run that keeps plug-ins"
            raise UsageError(f"{got}; name the files of an experiment with --plugin.")
        elif not experiment:
            got = "run: got no experiment, expected a file or --resume RUN"
            raise UsageError(f"{got}; try `rogue run quickstart`.")
        elif self.only_failed:
            got = "--only-failed: got no --resume, expected the run that has failures"
            raise UsageError(f"{got}; add --resume RUN.")


def run_experiment(loaded: LoadedExperiment | None, options: RunOptions) -> ExitCode:
    """Start a run of an experiment, or resume one; print its directory last."""
    from rogue.harness.experiment.load import hidden_values
    from rogue.harness.plan.plan import make_chosen_plan
    from rogue.harness.run import start_run

    with opened_cluster(options.dask) as cluster, ExitStack() as after:
        if options.resume is not None:
            return _resume(options, options.resume, cluster, after)
        assert loaded is not None, "an experiment to start"
        testbed = ready_testbed(options.testbed, options.dask, is_trusted=options.trusts_inventory)
        with CountDisplay(sys.stderr) as counted:
            plan = make_chosen_plan(loaded, testbed, counted, options.only_cell)
        for words in hidden_values(loaded):
            notify(words)
        _check_budget(plan.cells, plan, options, cluster)
        command = ("rogue", *options.arguments)
        run = start_run(plan, options.out or DEFAULT_OUT, command)
        with locked(run.directory):
            return _work_and_finish(run, plan, options, cluster, after)


def _resume(options: RunOptions, directory: Path, cluster: Cluster | None, after: ExitStack) -> ExitCode:
    from rogue.harness.data.files import kept_files
    from rogue.harness.run import cells_left, reopen_run, replan

    began_with = read_manifest(directory).command  # or it is no run, and there is nothing to lock
    if began_with[1:2] == ["conformance"]:
        got = f"{directory}: got a run of `rogue conformance`, expected one of `rogue run`"
        raise UsageError(f"{got}; to test again from the start: {call_again(*began_with[1:])}")
    for command in ("search", "sensitivity"):  # which alone know their next cells
        if (directory / f"{command}.json").is_file():
            again = call_again(command, "--resume", directory)
            got = f"{directory}: got a run of `rogue {command}`, expected one of `rogue run`"
            raise UsageError(f"{got}; to continue: {again}")
    with locked(directory):
        manifest = read_manifest(directory)
        plugins = load_trusted(manifest.plugins, options.trust)
        kept = kept_data(directory, manifest)
        for file in [*changed_data(manifest), *changed_plugins(manifest.plugins)]:
            notify(f"{file} has changed since the run began, which continues with its copy.")
        begun = begun_testbed(manifest.testbed, options.testbed, options.arguments)
        testbed = ready_testbed(begun, options.dask, is_trusted=options.trusts_inventory)
        with CountDisplay(sys.stderr) as counted:
            plan = replan(manifest, testbed, counted, plugins, kept_files(kept))
        left = cells_left(Run(directory, manifest), plan, options.only_failed)
        _check_budget(left, plan, options, cluster)
        run = reopen_run(directory, ("rogue", *options.arguments))
        first, now = run.manifest.git.commit, run.manifest.sessions[-1].git.commit
        if first != now:  # the manifest says which cells are from which commit
            notify(f"this run began with commit {first} and continues with {now}.")
        return _work_and_finish(run, plan, options, cluster, after)


def _check_budget(
    cells: Sequence[PlannedCell], plan: Plan, options: RunOptions, cluster: Cluster | None
) -> None:
    from rogue.harness.plan.text import check_budget

    if not options.allows_long:
        jobs = jobs_at_once(plan.testbed, options.jobs, cluster)
        check_budget(cells, jobs, options.resume or options.out or DEFAULT_OUT)


def jobs_at_once(testbed: Testbed, wanted: int | None, cluster: Cluster | None) -> int:
    """Return how many cells run at once: as wanted, but at most what the testbed can run."""
    if cluster is not None:
        return wanted or cluster.threads
    return testbed.jobs(wanted or available_cores())


def begun_testbed(begun: str, named: str, arguments: Sequence[str]) -> str:
    """Return the testbed of a run; UsageError if only the run names an inventory: its author is unknown."""
    if named == begun or (named == DEFAULT_TESTBED and not _is_file(begun)):
        return begun
    if _is_file(named) and Path(named).absolute() == Path(begun).absolute():
        return named
    if named != DEFAULT_TESTBED:
        raise UsageError(f"--testbed: got {named!r}, expected {begun!r}, on which the run began.")
    again = call_again(*arguments, "--testbed", begun)
    got = f"--resume: got no --testbed, expected the inventory that the run names, {begun!r}"
    raise UsageError(f"{got}: the author of the run wrote that name; read the file, then: {again}")


def _is_file(testbed: str) -> bool:
    """True if the name is that of an inventory's file."""
    return testbed not in TESTBEDS and not is_virtual(testbed)


@contextmanager
def opened_cluster(address: str | None) -> Iterator[Cluster | None]:
    """Connect to a Dask cluster if there is an address; importing Dask takes a while."""
    if address is None:
        yield None
        return
    from rogue.harness.execution.dask_slot import cluster, openness

    with cluster(address) as found:
        if words := openness(address):
            notify(words)
        yield found


def _work_and_finish(
    run: Run, plan: Plan, options: RunOptions, cluster: Cluster | None, after: ExitStack
) -> ExitCode:
    """Run the cells and write the report; after Ctrl-C or a lost cluster, print how to continue.

    `after` closes the page.
    """
    from rogue.harness.run import Workers

    show = after.enter_context(show_live(run, plan)) if options.is_live else None
    jobs = jobs_at_once(plan.testbed, options.jobs, cluster)
    workers = Workers(jobs, None if cluster is None else cluster.make_slot)
    try:
        with termination_as_interrupt():
            _work(run, plan, options, workers, show)
            return _finish(run, options)
    except (KeyboardInterrupt, ClusterLostError) as stop:
        error = stop_error(stop, _kept(run, options))
        _print_end(run, None, error.exit_code, as_json=options.as_json)
        raise error from stop


def stop_error(stop: KeyboardInterrupt | ClusterLostError, kept: str) -> HarnessError:
    """Return the error for a run that stopped early; `kept` says what is kept and how to continue."""
    if isinstance(stop, ClusterLostError):
        return ClusterLostError(f"{stop}; {kept}")
    return StoppedError(f"stopped; {kept}", stop)


def _work(
    run: Run,
    plan: Plan,
    options: RunOptions,
    workers: Workers,
    show: Callable[[Watcher], Watcher] | None,
) -> None:
    from rogue.harness.plan.plan import cheapest_first
    from rogue.harness.progress import ProgressDisplay
    from rogue.harness.run import cells_left, work

    cells = cells_left(run, plan, options.only_failed)
    if options.is_cheap_first:
        cells = cheapest_first(cells)
    if options.only_failed and not cells:
        notify("no cell of this run failed; without --only-failed the others continue.")
    inform(_beginning(plan, cells, workers.jobs, run.directory))
    with ProgressDisplay(cells, error_console()) as display:
        work(run, plan, cells, workers, display if show is None else show(display))


def _beginning(plan: Plan, cells: Sequence[PlannedCell], jobs: int, directory: Path) -> str:
    """Say what runs where, how many cells, about how long, and where the results are."""
    from rogue.harness.plan.plan import cost_of
    from rogue.harness.plan.text import format_seconds

    runnable = [planned for planned in cells if planned.unsupported is None]
    transports = len({planned.cell.transport.shown for planned in runnable})
    what = f"{counted(len(runnable), 'cell')} of {counted(transports, 'transport')}"
    time = format_seconds(cost_of(runnable, jobs).seconds)
    title = plan.loaded.experiment.title or plan.loaded.experiment.name
    where = f"on {plan.testbed.name}, {jobs} at once" if jobs > 1 else f"on {plan.testbed.name}"
    return f"{title}: {what} {where}, about {time}; results in {directory}"


def _finish(run: Run, options: RunOptions) -> ExitCode:
    """Report, sum up, print the run's directory as the last line."""
    report, count = try_to_report([run.directory]), len(run.manifest.cells)
    failed = sum(cell.status is CellStatus.FAILED for cell in run.manifest.cells)
    if failed:
        again = call_again("run", "--resume", run.directory, "--only-failed", *_options_again(run, options))
        notify(f"{failed} of {count} cells failed; to try them again: {again}")
    if missed := sum(bool(cell.number("packets_missed")) for cell in run.manifest.cells):
        text = f"{missed} of {count} cells had more packets than packets_max; the rest is not recorded"
        notify(f"{text}. The report has their number.")
    if unmet := sum(bool(cell.number("packet_events_unmet")) for cell in run.manifest.cells):
        notify(f"In {unmet} of {count} cells a packet_event had no effect, because that packet never came.")
    code = ExitCode.CELLS_FAILED if failed else ExitCode.OK
    if report is None:
        code = ExitCode.REPORT_FAILED
    elif not is_quiet():
        typer.echo(f"report: {report}", err=True)  # with the bytes of its name
    _print_end(run, report, code, as_json=options.as_json)
    return code


_CELL_KEYS: Final = {
    "id", "transport", "factors", "repetition", "seed", "status", "failure_kind", "message", "wall_seconds",
}  # fmt: skip


def _print_end(run: Run, report: Path | None, code: ExitCode, *, as_json: bool) -> None:
    """Print the run's directory as the last line, or the end of the run as a document."""
    if not as_json:
        typer.echo(run.directory)
        return
    manifest = run.manifest
    cells = [cell.model_dump(mode="json", include=_CELL_KEYS) for cell in manifest.cells]
    print_document(
        {
            "run": run.directory, "run_id": manifest.run_id, "experiment": manifest.name,
            "testbed": manifest.testbed, "status": manifest.status, "report": report,
            "exit_code": int(code), "cells": cells,
        }
    )  # fmt: skip


def _kept(run: Run, options: RunOptions) -> str:
    """Return what is kept and how to continue: with the cells that are left, else with the report."""
    finished = sum(cell.status is CellStatus.OK for cell in run.manifest.cells)
    if run.manifest.status == "complete":
        again = call_again("report", run.directory, *_plugins(run.manifest))
    else:
        again = call_again("run", "--resume", run.directory, *_options_again(run, options))
    return f"{finished} of {len(run.manifest.cells)} cells are finished and kept; to continue: {again}"


def _options_again(run: Run, options: RunOptions) -> list[str]:
    """Return the options without which the run would not continue as it began."""
    long = ["--allow-long"] if options.allows_long else []
    return [*long, *resume_options(run.manifest, options.dask, is_trusted=options.trusts_inventory)]


def resume_options(manifest: Manifest, dask: str | None, *, is_trusted: bool) -> list[str]:
    """Return the options for the testbed and the plug-ins of a run that continues."""
    testbed = ["--testbed", manifest.testbed] if _is_file(manifest.testbed) else []
    testbed += [TRUST] if is_trusted else []
    return [*testbed, *(["--dask", dask] if dask is not None else []), *_plugins(manifest)]


def _plugins(manifest: Manifest) -> list[str]:
    """Return the options that name the run's plug-ins, except installed ones."""
    named = [each.file for each in manifest.plugins if not each.is_installed]
    return [word for file in named for word in ("--plugin", file)]
