"""Follows one run with a page, from the first request until the run is over."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final, Self

from rogue.harness.live.preview import Figures
from rogue.harness.live.run_state import RunState
from rogue.harness.live.server import LiveServer
from rogue.harness.results.recorded_run import SO_FAR, present_manifest
from rogue.reports.reading.files import read_regular
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus

if TYPE_CHECKING:
    from rogue.reports.pages.live import LivePage

REFRESH_SECONDS: Final = 5
REFRESH_SECONDS_MAX: Final = 30
CHARACTERS_PER_SECOND: Final = 200_000
"""A large page is fetched less often, so that showing it takes little of the computer."""
GRACE_SECONDS: Final = 5


class RunPage:
    """The page of a run; a context manager.

    `over` makes it the last page, and waits for a browser that has been looking to fetch that one.
    """

    def __init__(self, run: Path, standing: Callable[[], RunState], port: int = 0) -> None:
        self._run = run
        self._standing = standing
        self._figures = Figures(run, lambda: standing().manifest)
        self._server = LiveServer(self, port)
        self._last: str | None = None
        self._last_page_fetched = Event()
        self._fetched_at: float | None = None
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        """Return where the page is."""
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
        """The run is over: show that to who has been looking, and come back."""
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
        from rogue.reports.pages.live import live_page

        return live_page(self._shown(), latest.page if latest else None)

    def on_sent(self, page: str) -> None:
        """Note a request, and whether it has seen the last page."""
        self._fetched_at = time.monotonic()
        if page is self._last:
            self._last_page_fetched.set()

    def _shown(self) -> "LivePage":
        from rogue.reports.pages.live import LivePage

        standing = self._standing()
        latest = self._figures.latest
        return LivePage(
            title=_title(standing),
            run=str(self._run),
            testbed=standing.manifest.testbed,
            counts=_counts(standing),
            share=standing.share,
            elapsed_seconds=standing.elapsed_seconds,
            seconds_left=standing.seconds_left,
            running=sorted(standing.running.items()) if standing.running is not None else None,
            failed=_failed(standing),
            refresh_seconds=self.refresh_seconds,
            figures_of=latest.cells if latest else None,
            problem=self._figures.problem,
            so_far=_so_far(self._run),
        )

    def _last_page(self) -> str:
        from rogue.reports.pages.live import last_page

        manifest = present_manifest(self._run)
        standing = RunState(manifest, None, 0.0, {})
        file = self._run / "report.html"
        report = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
        return last_page(_title(standing), str(self._run), _counts(standing), report)


def _so_far(run: Path) -> list[str]:
    """What a search says of itself, a sentence a line."""
    try:
        return read_regular(run / SO_FAR).decode(errors="replace").splitlines()
    except OSError:
        return []


def _title(standing: RunState) -> str:
    experiment = standing.manifest.experiment
    return str(experiment.get("title") or experiment.get("name") or standing.manifest.run_id)


def _counts(standing: RunState) -> Sequence[tuple[str, int]]:
    """How many cells there are of each kind."""
    total = ("cells", len(standing.manifest.cells))
    running = [] if standing.running is None else [("running", len(standing.running))]
    waiting = "waiting" if standing.running is not None else "waiting or running"
    return (
        ("finished", standing.count(CellStatus.OK)),
        ("failed", len(standing.of_status(CellStatus.FAILED))),
        *running,
        (waiting, standing.waiting),
        ("cannot run here", standing.count(CellStatus.UNSUPPORTED)),
        total,
    )


def _failed(standing: RunState) -> list[tuple[str, str]]:
    """Each cell that failed, and why."""
    return [(cell.id, _reason(cell)) for cell in standing.of_status(CellStatus.FAILED)]


def _reason(cell: CellRecord) -> str:
    return (
        f"{cell.failure_kind}: {cell.message}" if cell.failure_kind else cell.message or "no reason recorded"
    )
