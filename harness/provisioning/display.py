"""What a person sees while a playbook runs: k of n, task and nodes; elsewhere a line per finished task."""

from collections.abc import Mapping
from time import monotonic
from typing import Any, Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rogue.harness.provisioning.events import is_task_start, task_title

_BAD_ENDS: Final = ("runner_on_failed", "runner_on_unreachable")
_ENDS: Final = ("runner_on_ok", "runner_on_skipped", *_BAD_ENDS)


class TaskDisplay:
    """Shows a playbook's progress on standard error; a context manager."""

    def __init__(self, title: str, tasks: int, console: Console) -> None:
        self._console = console
        self._title = title
        self._tasks = tasks
        self._number = 0
        self._task = ""
        self._started_s = 0.0
        self._running: list[str] = []
        self._changed: list[str] = []
        self._failed: list[str] = []
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[now]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._bar = self._progress.add_task(title, total=tasks, now="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._end_task()
        self._progress.stop()

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Take one event of ansible-runner's."""
        data = event.get("event_data", {})
        if is_task_start(event):
            self._end_task()
            self._number += 1
            self._task, self._started_s = task_title(data), monotonic()
        elif event.get("event") == "runner_on_start":
            self._running.append(str(data["host"]))
        elif event.get("event") in _ENDS:
            self._end_node(str(data["host"]), str(event["event"]), bool(data.get("res", {}).get("changed")))
        now = f"{self._task} ({', '.join(self._running)})" if self._running else self._task
        self._progress.update(self._bar, completed=max(self._number - 1, 0), total=self._tasks, now=now)

    def _end_node(self, node: str, end: str, is_changed: bool) -> None:
        if node in self._running:
            self._running.remove(node)
        if end in _BAD_ENDS:
            self._failed.append(node)
        elif is_changed:
            self._changed.append(node)

    def _end_task(self) -> None:
        """Replace the task by a line that stays."""
        if self._task:
            words = [f"changed {', '.join(sorted(self._changed))}"] if self._changed else []
            words += [f"failed on {', '.join(sorted(self._failed))}"] if self._failed else []
            done = "; ".join(words) or "nothing to change"
            took = f"{monotonic() - self._started_s:.1f} s"
            text = f"[{self._number}/{self._tasks}] {self._task}: {done}, {took}"
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)
        self._task, self._running, self._changed, self._failed = "", [], [], []
