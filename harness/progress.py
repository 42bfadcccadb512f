"""Show the progress of a run on standard error: bars on a terminal, else one line per finished cell."""

from collections.abc import Sequence
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.task import Task
from rogue.harness.plan.plan import PlannedCell
from rogue.workloads.manifest import CellRecord
from rogue.workloads.printable import printable
from rogue.workloads.records import CellStatus

_ALL: Final = "all cells"


class ProgressDisplay(Watcher):
    """Shows a run's progress on standard error; a context manager."""

    def __init__(self, planned: Sequence[PlannedCell], console: Console) -> None:
        self._console = console
        self._seconds = {each.cell.id: max(each.seconds, 1e-3) for each in planned}
        self._fractions: dict[str, float] = {}
        self._bars: dict[str, TaskID] = {}
        self._finished = 0
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._total = self._progress.add_task(_ALL, total=sum(self._seconds.values()))

    def __enter__(self) -> Self:
        self._progress.start()
        if not self._console.is_terminal:
            self._console.print(f"[0/{len(self._seconds)}] running", markup=False, highlight=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def on_started(self, task: Task) -> None:
        """Show a bar for a cell that runs."""
        self._bars[task.cell.id] = self._progress.add_task(task.cell.id, total=1.0)

    def on_progress(self, task: Task, fraction: float) -> None:
        """Move its bar."""
        self._fractions[task.cell.id] = fraction
        self._progress.update(self._bars[task.cell.id], completed=fraction)
        self._update_total()

    def on_finished(self, record: CellRecord) -> None:
        """Replace its bar by a line that stays."""
        self._finished += 1
        self._fractions[record.id] = 1.0
        self._progress.remove_task(self._bars.pop(record.id))
        self._update_total()
        self._console.print(printable(self._line(record)), markup=False, highlight=False, soft_wrap=True)

    def _update_total(self) -> None:
        done = sum(self._seconds[identifier] * fraction for identifier, fraction in self._fractions.items())
        self._progress.update(self._total, completed=done)

    def _line(self, record: CellRecord) -> str:
        text = f"[{self._finished}/{len(self._seconds)}] {record.id}: {record.status}"
        if record.status is CellStatus.FAILED:
            text += f" ({record.failure_kind}): {record.message}"
        if record.wall_seconds is not None:
            text += f", {record.wall_seconds:.1f} s"
        return text
