"""Reduce Ansible's events to progress and failures, and display them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_VALIDATION: Final = "Validating arguments against arg spec"
"""Ansible checks a role's arguments in a task of its own, without going to a node."""
_NO_RESULT: Final = "Module result deserialization failed"
"""Ansible's words for a module that died, or could not be started; what it printed says why."""
_WRAPPING: Final = re.compile(
    r'^(?:Task failed: )?(?:Data could not be sent to remote host "[^"]*"\. Make sure this host can be '
    r"reached over ssh: |Failed to connect to the host via ssh: )?(?:ssh: )?"
)
"""Ansible's words around the message of SSH or of a module."""


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """A node on which a task failed, or that could not be reached."""

    node: str
    task: str
    message: str

    def __str__(self) -> str:
        return f"{self.node}: {self.task}: {self.message}"


@dataclass(slots=True)
class PlaybookResult:
    """What a playbook did."""

    failures: list[TaskFailure] = field(default_factory=list)
    changes: dict[str, list[str]] = field(default_factory=dict)
    """Per node the settings and tasks that changed something, or would."""
    packages_left: dict[str, list[str]] = field(default_factory=dict)
    """Per node the packages that teardown leaves installed."""
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Per node what `node_facts` found."""
    complaints: list[str] = field(default_factory=list)
    """What Ansible itself said when it could not go on: a wrong playbook, variable or inventory."""
    tasks_done: int = 0

    @property
    def changed(self) -> int:
        """How many things were changed, over all nodes."""
        return sum(len(each) for each in self.changes.values())

    def add(self, event: Mapping[str, Any]) -> None:
        """Take one event of ansible-runner's."""
        data = event.get("event_data", {})
        match event.get("event"):
            case "runner_on_ok":
                self._add_result(str(data["host"]), task_title(data), data.get("res", {}))
            case "runner_on_failed" | "runner_on_async_failed" if not data.get("ignore_errors"):
                self.failures.append(
                    TaskFailure(str(data["host"]), task_title(data), _message(data.get("res", {})))
                )
            case "runner_on_unreachable":
                message = f"cannot be reached: {_message(data.get('res', {}))}"
                self.failures.append(TaskFailure(str(data["host"]), task_title(data), message))
            case "error" if event.get("stdout"):
                self.complaints.append(" ".join(str(event["stdout"]).split()))

    def _add_result(self, node: str, title: str, result: Mapping[str, Any]) -> None:
        if result.get("changed"):
            known = self.changes.setdefault(node, [])
            known += [change for change in result.get("changes", [title]) if change not in known]
        self.packages_left |= {node: result["packages_left"]} if result.get("packages_left") else {}
        if "facts" in result:
            self.facts[node] = result["facts"]


def is_task_start(event: Mapping[str, Any]) -> bool:
    """Whether a task begins that goes to the nodes."""
    return event.get("event") == "playbook_on_task_start" and counts(task_title(event["event_data"]))


def counts(title: str) -> bool:
    """Whether a task of that title is one that a person waits for."""
    return _VALIDATION not in title


def task_title(data: Mapping[str, Any]) -> str:
    """Role and name of a task."""
    role, name = data.get("role"), str(data.get("task", "")).strip()
    name = name.removeprefix(f"{role} : ") if role else name
    return f"{role}: {name}" if role else name


def _message(result: Mapping[str, Any]) -> str:
    words = [str(result.get(key, "")) for key in ("msg", "argument_errors", "stderr") if result.get(key)]
    if words and _NO_RESULT in words[0]:
        printed = str(result.get("module_stderr") or result.get("module_stdout") or "nothing")
        code = result.get("rc", "unknown")
        words = [f"the module ended without a result (exit code {code}); it printed: {printed}"]
    return _WRAPPING.sub("", " ".join(" ".join(words).split())) or "no reason given"


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
