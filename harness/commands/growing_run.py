"""What `rogue search` and `rogue sensitivity` share: their runs grow, for numbers say what comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rogue.harness.commands.call_again import call_again
from rogue.harness.commands.run import begun_testbed, jobs_at_once, opened_cluster, resume_options
from rogue.harness.errors import ClusterLostError, StoppedError, UsageError, termination_as_interrupt
from rogue.harness.testbeds import DEFAULT_TESTBED, ready_testbed

if TYPE_CHECKING:
    from pydantic import BaseModel

    from rogue.harness.data.files import DataFiles
    from rogue.harness.experiment.load import LoadedExperiment
    from rogue.harness.plugins.trust import Trust
    from rogue.harness.results.recorded_run import Run
    from rogue.harness.run import Workers
    from rogue.harness.search.record import Record
    from rogue.harness.testbeds.base import Testbed


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingOptions:
    """Options of both commands, as given."""

    command: ClassVar[str]
    """Its word."""
    loaded: LoadedExperiment | None = None
    """The experiment, read and checked; None with `resume`."""
    arguments: tuple[str, ...]
    testbed: str = DEFAULT_TESTBED
    out: Path | None = None
    """None: where runs are by default."""
    jobs: int | None = None
    resume: Path | None = None
    dask: str | None = None
    """Address of a scheduler; None for processes on this computer."""
    trust: Trust | None = None
    """With `resume`: which code of the run may run."""
    trusts_inventory: bool = False
    """Whether the inventory may be a program."""

    @property
    def words(self) -> tuple[str, ...]:
        """The command line."""
        return ("rogue", *self.arguments)

    @property
    def record(self) -> str:
        """The file of a run with what was asked."""
        return f"{self.command}.json"

    def ready_testbed(self, name: str) -> Testbed:
        """Return a testbed in a state to measure."""
        return ready_testbed(name, self.dask, is_trusted=self.trusts_inventory, command=self.command)


@contextmanager
def resumed(
    directory: Path, model: type[Record], options: GrowingOptions
) -> Iterator[tuple[Record, LoadedExperiment, Testbed, DataFiles]]:
    """Yield what a run was asked, and what it was begun with, ready to go on; it is locked meanwhile."""
    from rogue.harness.data.files import kept_files
    from rogue.harness.plugins.trust import NOBODY, load_trusted
    from rogue.harness.results.manifest import read_manifest
    from rogue.harness.results.recorded_run import kept_data
    from rogue.harness.results.run_directory import locked
    from rogue.harness.run import loaded_again
    from rogue.harness.search.record import read_record

    manifest, asked = read_manifest(directory), read_record(directory / options.record, model)
    with locked(directory):
        testbed = begun_testbed(manifest.testbed, options.testbed, options.arguments)
        plugins = load_trusted(manifest.plugins, options.trust or NOBODY)
        files = kept_files(kept_data(directory, manifest))
        yield asked, loaded_again(manifest, plugins, files), options.ready_testbed(testbed), files


@contextmanager
def begun_run(
    loaded: LoadedExperiment, testbed: Testbed, asked: BaseModel, options: GrowingOptions
) -> Iterator[Run]:
    """Begin a run without cells that keeps what was asked; it is locked meanwhile."""
    from rogue.harness.plan.plan import Plan
    from rogue.harness.results.run_directory import DEFAULT_OUT, locked
    from rogue.harness.run import begin_run
    from rogue.harness.search.record import SearchFiles

    plan = Plan(loaded, testbed, ())
    run = begin_run(plan, options.out or DEFAULT_OUT, options.words, datetime.now(UTC))
    with locked(run.directory):
        SearchFiles(run).write_record(options.record, asked)
        yield run


@contextmanager
def growing(
    run: Run, testbed: Testbed, options: GrowingOptions, on_stopped: Callable[[], None]
) -> Iterator[Workers]:
    """Yield what runs cells; Ctrl-C, or a cluster that is lost, leaves those that are there and says so."""
    from rogue.harness.run import Workers
    from rogue.harness.search.bench import KeptSlots

    with ExitStack() as after:
        cluster = after.enter_context(opened_cluster(options.dask))
        slots = after.enter_context(KeptSlots(None if cluster is None else cluster.make_slot))
        try:
            with termination_as_interrupt():
                yield Workers(jobs_at_once(testbed, options.jobs, cluster), slots.lend)
        except (KeyboardInterrupt, ClusterLostError) as stop:
            on_stopped()
            said = resume_options(run.manifest, options.dask, is_trusted=options.trusts_inventory)
            again = call_again(options.command, "--resume", run.directory, *said)
            kept = f"what was measured is kept; to go on: {again}"
            if isinstance(stop, ClusterLostError):
                raise ClusterLostError(f"{stop}; {kept}") from stop
            raise StoppedError(f"stopped; {kept}", stop) from stop


def check_start(
    command: str, experiment: str, file: tuple[str, Path | None], resume: Path | None, *, is_changed: bool
) -> None:
    """UsageError unless there is an experiment with its file, an option and its value, or a run alone."""
    option, path = file
    if resume is not None and is_changed:
        alone = "search" if command == "search" else "run"
        got = "an experiment or options that change it"
        raise UsageError(f"--resume: got {got}, expected the {alone} alone; it goes on as it was started.")
    if resume is None and (not experiment or path is None):
        missing = option if experiment else "experiment"
        expected = f"an experiment and {option} FILE, or --resume RUN"
        raise UsageError(f"{command}: got no {missing}, expected {expected}; docs/SEARCH.md shows both.")
