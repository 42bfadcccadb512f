"""Serve the page of one run until the run is over."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final, Self

from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.task import Task
from rogue.harness.live.preview import PartialReport, PreviewProcess
from rogue.harness.live.server import LiveServer
from rogue.harness.results.recorded_run import SO_FAR, present_manifest
from rogue.reports.pages.live import LivePage, last_page, live_page
from rogue.reports.reading.files import read_regular
from rogue.workloads.manifest import CellRecord, Manifest
from rogue.workloads.records import CellStatus

SHARE_MIN: Final = 0.01
"""Least share that is done before the page estimates the end."""


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run at one moment."""

    manifest: Manifest
    running: Mapping[str, float] | None
    """The fraction done of each cell that runs; None if it is not known here."""
    elapsed_seconds: float
    """Time since this call of `rogue run` began."""
    weights: Mapping[str, float]
    """Expected seconds of each cell; equal weights if there is no estimate."""

    def count(self, *statuses: CellStatus) -> int:
        """Return how many cells have one of these statuses."""
        return sum(cell.status in statuses for cell in self.manifest.cells)

    def of_status(self, status: CellStatus) -> list[CellRecord]:
        """Return the cells of a status that are not running again."""
        return [
            cell
            for cell in self.manifest.cells
            if cell.status is status and cell.id not in (self.running or {})
        ]

    @property
    def waiting(self) -> int:
        """Return how many cells have no result and do not run."""
        return len(self.of_status(CellStatus.PENDING))

    @property
    def share(self) -> float:
        """Return what is done of this call's work, between 0 and 1."""
        session = len(self.manifest.sessions) - 1
        done = all_of_it = 0.0
        for cell in self.manifest.cells:
            weight = self.weights.get(cell.id, 1.0)
            if cell.status is CellStatus.UNSUPPORTED or self._was_done_before(cell, session):
                continue
            all_of_it += weight
            if self.running is not None and cell.id in self.running:
                done += weight * self.running[cell.id]
            elif cell.status in (CellStatus.OK, CellStatus.FAILED):
                done += weight
        return done / all_of_it if all_of_it else 1.0

    def _was_done_before(self, cell: CellRecord, session: int) -> bool:
        """True if the cell was over before this call, and is not running again."""
        over = cell.status in (CellStatus.OK, CellStatus.FAILED)
        return over and cell.session != session and cell.id not in (self.running or {})

    @property
    def seconds_left(self) -> float | None:
        """Return the expected time to the end, None if too little is done to tell."""
        share = self.share
        return None if share < SHARE_MIN else self.elapsed_seconds * (1 - share) / share


class LiveWatcher(Watcher):
    """A watcher that keeps the fraction done of each running cell, and forwards every call.

    Other threads copy `running`, which CPython does without an interruption.
    """

    def __init__(self, watcher: Watcher, running: dict[str, float]) -> None:
        self._watcher = watcher
        self._running = running

    def on_started(self, task: Task) -> None:
        """Note a cell that runs."""
        self._running[task.cell.id] = 0.0
        self._watcher.on_started(task)

    def on_progress(self, task: Task, fraction: float) -> None:
        """Note its progress."""
        self._running[task.cell.id] = fraction
        self._watcher.on_progress(task, fraction)

    def on_finished(self, record: CellRecord) -> None:
        """Remove it."""
        self._running.pop(record.id, None)
        self._watcher.on_finished(record)


REFRESH_SECONDS: Final = 2
REFRESH_SECONDS_MAX: Final = 30
CHARACTERS_PER_SECOND: Final = 200_000
"""A large page is fetched less often, so that showing it takes little processor time."""
GRACE_SECONDS: Final = 5


class RunPage:
    """The page of a run; a context manager.

    `over` makes it the last page, and waits until a browser that fetched the page has that one as well.
    """

    def __init__(self, run: Path, run_state: Callable[[], RunState], port: int = 0) -> None:
        self._run = run
        self._run_state = run_state
        self._figures = PreviewProcess(run, lambda: run_state().manifest)
        self._server = LiveServer(self, port)
        self._last: str | None = None
        self._last_page_fetched = Event()
        self._fetched_at: float | None = None
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        """Return the address of the page."""
        return self._server.url

    def __enter__(self) -> Self:
        import rogue.reports.pages.live  # noqa: F401  (now, and not in the first browser's request)

        self._stack.enter_context(self._figures)
        self._stack.enter_context(self._server)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def refresh_seconds(self) -> int:
        """Return how often browsers fetch the page anew."""
        latest = self._figures.latest
        more = len(latest.page) // CHARACTERS_PER_SECOND if latest else 0
        return min(REFRESH_SECONDS + more, REFRESH_SECONDS_MAX)

    def over(self) -> None:
        """Show that the run is over to a browser that has fetched the page, and return."""
        self._figures.stop()
        patience = self.refresh_seconds + GRACE_SECONDS
        self._last = self._last_page()
        if self._fetched_at is not None and time.monotonic() - self._fetched_at < patience:
            self._last_page_fetched.wait(patience)

    def page(self, path: str) -> str | None:
        """Return the live page, the report so far, or at the end the last page."""
        if path not in ("/", "/report"):
            return None
        if self._last is not None:
            return self._last
        latest = self._figures.latest
        if path == "/report":
            return latest.page if latest else None
        return live_page(self._shown(latest), latest.page if latest else None)

    def on_sent(self, page: str) -> None:
        """Note a request, and whether it has seen the last page."""
        self._fetched_at = time.monotonic()
        if page is self._last:
            self._last_page_fetched.set()

    def _shown(self, latest: PartialReport | None) -> LivePage:
        run_state = self._run_state()
        return LivePage(
            title=_title(run_state),
            run=str(self._run),
            testbed=run_state.manifest.testbed,
            counts=_counts(run_state),
            share=run_state.share,
            elapsed_seconds=run_state.elapsed_seconds,
            seconds_left=run_state.seconds_left,
            running=sorted(run_state.running.items()) if run_state.running is not None else None,
            failed=_failed(run_state),
            refresh_seconds=self.refresh_seconds,
            figures_of=latest.cells if latest else None,
            problem=self._figures.problem,
            so_far=_so_far(self._run),
        )

    def _last_page(self) -> str:
        manifest = present_manifest(self._run)
        run_state = RunState(manifest, None, 0.0, {})
        file = self._run / "report.html"
        report = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
        return last_page(_title(run_state), str(self._run), _counts(run_state), report)


def _so_far(run: Path) -> list[str]:
    """Return the summary of a search so far, a sentence per line."""
    try:
        return read_regular(run / SO_FAR).decode(errors="replace").splitlines()
    except OSError:
        return []


def _title(run_state: RunState) -> str:
    experiment = run_state.manifest.experiment
    return str(experiment.get("title") or experiment.get("name") or run_state.manifest.run_id)


def _counts(run_state: RunState) -> Sequence[tuple[str, int]]:
    """Return the number of cells of each kind."""
    total = ("cells", len(run_state.manifest.cells))
    running = [] if run_state.running is None else [("running", len(run_state.running))]
    waiting = "waiting" if run_state.running is not None else "waiting or running"
    return (
        ("finished", run_state.count(CellStatus.OK)),
        ("failed", len(run_state.of_status(CellStatus.FAILED))),
        *running,
        (waiting, run_state.waiting),
        ("cannot run here", run_state.count(CellStatus.UNSUPPORTED)),
        total,
    )


def _failed(run_state: RunState) -> list[tuple[str, str]]:
    """Return each failed cell with its reason."""
    return [(cell.id, _reason(cell)) for cell in run_state.of_status(CellStatus.FAILED)]


def _reason(cell: CellRecord) -> str:
    kind = f"{cell.failure_kind}: " if cell.failure_kind else ""
    return f"{kind}{cell.message or 'no reason recorded'}"
