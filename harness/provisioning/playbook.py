"""Run a playbook through ansible-runner: show progress, stop it, explain failures."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self

import ansible_runner
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.inventory_source import is_program, is_unverified, kinds_enabled
from rogue.remote.destination import Destination
from rogue.remote.errors import NodeError
from rogue.workloads.shipped import shipped

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
            self._task, self._started_s = task_title(data), time.monotonic()
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
            took = f"{time.monotonic() - self._started_s:.1f} s"
            text = f"[{self._number}/{self._tasks}] {self._task}: {done}, {took}"
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)
        self._task, self._running, self._changed, self._failed = "", [], [], []


_PROCESSES: Final = Path("/proc")
_LOOKS_MAX: Final = 100
_END_POLL_S: Final = 0.02


def find_processes(word: str) -> Iterator[int]:
    """Processes, other than this one, with the word in their command line."""
    for entry in _PROCESSES.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):  # it has just ended
            if word.encode() in (entry / "cmdline").read_bytes():
                yield int(entry.name)


def end_processes(directory: Path) -> None:
    """Kill every process that names a file below a private directory; wait until all have ended."""
    for _ in range(_LOOKS_MAX):
        pids = list(find_processes(f"{directory}/"))
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_END_POLL_S)


DIRECTORY: Final = shipped("playbooks")
_LIST_LIMIT_S: Final = 60.0
_LOOK_EVERY_S: Final = 1
"""How often ansible-runner asks whether it should stop."""
_DIRECTORY_LENGTH_MAX: Final = 48
"""A socket's path has 108 bytes at most, and SSH adds to it."""
_LISTED_TASK: Final = re.compile(r"^ {6}(.+?)\tTAGS:", re.MULTILINE)

_CHECKS: Final = tuple(f"ANSIBLE_{kind}HOST_KEY_CHECKING" for kind in ("", "SSH_", "PARAMIKO_"))
_SSH_ARGUMENTS: Final = tuple(f"ANSIBLE_SSH_{kind}ARGS" for kind in ("", "COMMON_", "EXTRA_"))


@dataclass(frozen=True, slots=True)
class Order:
    """A playbook, its hosts and its variables."""

    playbook: str
    title: str
    """What a person reads while it runs."""
    inventory: Path
    log: Path
    variables: Mapping[str, object] = field(default_factory=dict)
    is_check: bool = False
    destinations: tuple[Destination, ...] = ()
    """How SSH reaches the nodes, with the user of each."""
    nodes: tuple[str, ...] = ()
    """The only ones to go to; all if empty."""

    def of_nodes(self, inventory: Inventory, names: Iterable[str]) -> Self:
        """The same for these nodes alone, as the inventory reaches them."""
        return replace(self, destinations=inventory.destinations, nodes=tuple(names))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a playbook ran; `played` says how far it came."""

    def __init__(self, played: PlaybookResult) -> None:
        super().__init__()
        self.played = played


def run_playbook(order: Order, console: Console) -> PlaybookResult:
    """Run it to its end; a failure on a node is part of what it did, Ctrl-C raises Interrupted."""
    played = PlaybookResult()
    with _private_directory() as directory, _stopping() as must_stop:
        inventory = order.inventory.resolve()
        environment = _environment(directory, inventory)
        tasks = count_tasks(order.playbook, inventory, environment)
        order.log.parent.mkdir(parents=True, exist_ok=True)
        with order.log.open("w") as log, TaskDisplay(order.title, tasks, console) as display:

            def on_event(event: Mapping[str, Any]) -> bool:
                if event.get("stdout"):
                    log.write(f"{event['stdout']}\n")
                    log.flush()
                played.tasks_done += is_task_start(event)
                played.add(event)
                display.on_event(event)
                return False  # ansible-runner keeps no copy of the event

            runner = ansible_runner.run(
                private_data_dir=str(directory / "runner"),
                project_dir=str(DIRECTORY),
                playbook=f"{order.playbook}.yml",
                inventory=str(inventory),
                extravars={**order.variables, **ssh_variables(order.destinations, directory)},
                envvars=environment,
                limit=",".join(order.nodes) or None,
                cmdline="--check --diff" if order.is_check else "--diff",
                settings={"suppress_env_files": False, "pexpect_timeout": _LOOK_EVERY_S},
                event_handler=on_event,
                cancel_callback=must_stop,
                quiet=True,
            )
    if runner.status == "canceled":
        raise Interrupted(played)
    if runner.rc != 0 and not played.failures:
        words = " ".join(played.complaints) or f"it ended with code {runner.rc}"
        raise NodeError(f"{order.playbook}.yml: Ansible could not run it: {words}; see {order.log}")
    return played


def ssh_variables(destinations: Sequence[Destination], directory: Path) -> dict[str, object]:
    """Variables that make Ansible call SSH as the rest of the project resolves a node, for all nodes.

    directory: where the SSH configurations are written, one for each node.
    """
    ways = {}
    for number, destination in enumerate(destinations):
        config = directory / f"ssh_config_{number}"
        config.write_text(destination.config_text())
        ways[destination.node] = shlex.join([*destination.arguments, "-F", str(config)])
    if not ways:
        return {}
    return {
        "ssh_ways": ways,
        "ssh_users": {each.node: each.user for each in destinations},
        "ansible_user": "{{ ssh_users[inventory_hostname] }}",
        "ansible_ssh_common_args": "{{ ssh_ways[inventory_hostname] }}",
        "ansible_ssh_extra_args": "",
    }


def count_tasks(playbook: str, inventory: Path, environment: Mapping[str, str]) -> int:
    """Return how many tasks of a playbook go to nodes."""
    command = [str(_program("ansible-playbook")), "-i", str(inventory), "--list-tasks"]
    try:
        done = subprocess.run(
            [*command, f"{playbook}.yml"],
            cwd=DIRECTORY,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=_LIST_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NodeError(f"{playbook}.yml: Ansible did not read it within {_LIST_LIMIT_S:.0f} s.") from None
    if done.returncode != 0:
        words = " ".join(done.stderr.split())
        raise NodeError(f"{playbook}.yml: Ansible cannot read it: {words}")
    return sum(counts(title) for title in _LISTED_TASK.findall(done.stdout))


def _environment(directory: Path, inventory: Path) -> dict[str, str]:
    """Ansible of this Python, with the settings beside the playbooks and host keys that are verified.

    A user's variables would beat the settings, so those that matter are set or refused.
    """
    for name in _SSH_ARGUMENTS:
        if is_unverified(os.environ.get(name, "")):
            got = f"got {name}={os.environ[name]!r}, expected host keys that are verified"
            raise UsageError(f"environment: {got}; unset it.")
    return {
        **dict.fromkeys(_CHECKS, "1"),
        "PATH": f"{_program('ansible-playbook').parent}:{os.environ.get('PATH', os.defpath)}",
        "ANSIBLE_CONFIG": str(DIRECTORY / "ansible.cfg"),
        "ANSIBLE_INVENTORY_ENABLED": kinds_enabled(runs=is_program(inventory)),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(directory / "ssh"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
    }


def _program(name: str) -> Path:
    return Path(sys.executable).with_name(name)


@contextmanager
def _private_directory() -> Iterator[Path]:
    """A directory for what runner and SSH keep meanwhile."""
    is_short = len(tempfile.gettempdir()) <= _DIRECTORY_LENGTH_MAX
    directory = Path(tempfile.mkdtemp(prefix="rogue-", dir=None if is_short else "/tmp"))
    (directory / "runner").mkdir()
    try:
        yield directory
    finally:
        for socket in (directory / "ssh").glob("*"):
            command = ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "node"]
            subprocess.run(command, capture_output=True, timeout=_LIST_LIMIT_S, check=False)
        end_processes(directory)
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """While inside, Ctrl-C and the system's wish to end are noted, and obeyed where it does no harm."""
    wishes: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        wishes.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield lambda: bool(wishes)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
