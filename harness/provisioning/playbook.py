"""Run a playbook through ansible-runner: show progress, stop it, explain failures."""

import logging
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

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.inventory_source import is_program, is_unverified, kinds_enabled
from rogue.remote.errors import NodeError
from rogue.remote.login import Destination
from rogue.workloads.shipped import shipped

_LOGGER: Final = logging.getLogger(__name__)

_VALIDATION: Final = "Validating arguments against arg spec"
"""Title of the task in which Ansible checks a role's arguments; it does not run on a node."""
_NO_RESULT: Final = "Module result deserialization failed"
"""Ansible's message for a module that died or could not start; its output has the reason."""
_WRAPPING: Final = re.compile(
    r'^(?:Task failed: )?(?:Data could not be sent to remote host "[^"]*"\. Make sure this host can be '
    r"reached over ssh: |Failed to connect to the host via ssh: )?(?:ssh: )?"
)
"""Text that Ansible adds to the message of SSH or of a module."""


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
    """The results of a playbook."""

    failures: list[TaskFailure] = field(default_factory=list)
    changes: dict[str, list[str]] = field(default_factory=dict)
    """By node, settings and tasks that changed something, or would."""
    packages_left: dict[str, list[str]] = field(default_factory=dict)
    """By node, packages that teardown leaves installed."""
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By node, the facts of `node_facts`."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """By node, what roles say about their choices."""
    complaints: list[str] = field(default_factory=list)
    """Errors of Ansible itself: a wrong playbook, variable or inventory."""
    tasks_done: int = 0

    @property
    def changed(self) -> int:
        """Return the number of changes on all nodes."""
        return sum(len(each) for each in self.changes.values())

    def add(self, event: Mapping[str, Any]) -> None:
        """Take one event of ansible-runner."""
        data = event.get("event_data", {})
        match event.get("event"):
            case "runner_on_ok":
                self._add_result(str(data["host"]), task_title(data), data.get("res", {}))
                if data.get("task_action") == "ansible.builtin.debug":
                    self.notes.setdefault(str(data["host"]), []).append(str(data["res"]["msg"]))
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
    """True if a task begins that runs on the nodes."""
    is_start = event.get("event") == "playbook_on_task_start"
    return is_start and _VALIDATION not in task_title(event["event_data"])


def task_title(data: Mapping[str, Any]) -> str:
    """Return role and name of a task."""
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


DIRECTORY: Final = shipped("playbooks")
_CLOSE_LIMIT_S: Final = 60.0
_LOOKS_MAX: Final = 100
_END_POLL_S: Final = 0.02
_LIST_LIMIT_S: Final = 120.0
_LISTED_TASK: Final = re.compile(r"^ {6}(.+?)\tTAGS:", re.MULTILINE)
_LOOK_EVERY_S: Final = 1
"""Interval at which ansible-runner calls `cancel_callback`."""
_DIRECTORY_LENGTH_MAX: Final = 48
"""A socket's path has 108 bytes at most, and SSH adds to it."""

_CHECKS: Final = tuple(f"ANSIBLE_{kind}HOST_KEY_CHECKING" for kind in ("", "SSH_", "PARAMIKO_"))
_SSH_ARGUMENTS: Final = tuple(f"ANSIBLE_SSH_{kind}ARGS" for kind in ("", "COMMON_", "EXTRA_"))


@dataclass(frozen=True, slots=True)
class Order:
    """A playbook, its hosts and its variables."""

    playbook: str
    title: str
    """Shown while it runs."""
    inventory: Path
    log: Path
    variables: Mapping[str, object] = field(default_factory=dict)
    is_check: bool = False
    destinations: tuple[Destination, ...] = ()
    """How SSH reaches the nodes, with the user of each."""
    nodes: tuple[str, ...] = ()
    """Names of the nodes to run on; all if empty."""

    def of_nodes(self, inventory: Inventory, names: Iterable[str]) -> Self:
        """Return the order for these nodes alone, with the inventory's SSH arguments."""
        return replace(self, destinations=inventory.destinations, nodes=tuple(names))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a playbook ran; `played` has the results so far."""

    def __init__(self, played: PlaybookResult) -> None:
        super().__init__()
        self.played = played


def run_playbook(order: Order, console: Console) -> PlaybookResult:
    """Run a playbook; failures on nodes are part of the result, Ctrl-C raises Interrupted."""
    played = PlaybookResult()
    with _private_directory() as directory, _stopping() as must_stop:
        inventory = order.inventory.resolve()
        environment = _environment(directory, inventory)
        tasks = _count_tasks(order.playbook, inventory, environment)
        order.log.parent.mkdir(parents=True, exist_ok=True)
        with order.log.open("w") as log:

            def on_event(event: Mapping[str, Any]) -> bool:
                if event.get("stdout"):
                    log.write(f"{event['stdout']}\n")
                    log.flush()
                if is_task_start(event):
                    played.tasks_done += 1
                    number = f"{played.tasks_done}/{tasks}" if tasks else str(played.tasks_done)
                    text = f"{order.title}: [{number}] {task_title(event['event_data'])}"
                    console.print(text, markup=False, highlight=False, soft_wrap=True)
                played.add(event)
                return False  # ansible-runner keeps no copy of the event

            _LOGGER.debug("runs playbook %s on %s", order.playbook, ", ".join(order.nodes) or "all nodes")
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
    """Return variables with which Ansible reaches all nodes as the rest of the project does.

    directory: gets an SSH configuration for each node.
    """
    arguments = {}
    for number, destination in enumerate(destinations):
        config = directory / f"ssh_config_{number}"
        config.write_text(destination.config_text())
        arguments[destination.node] = shlex.join([*destination.arguments, "-F", str(config)])
    if not arguments:
        return {}
    return {
        "ssh_arguments": arguments,
        "ssh_users": {each.node: each.user for each in destinations},
        "ansible_user": "{{ ssh_users[inventory_hostname] }}",
        "ansible_ssh_common_args": "{{ ssh_arguments[inventory_hostname] }}",
        "ansible_ssh_extra_args": "",
    }


def _count_tasks(playbook: str, inventory: Path, environment: Mapping[str, str]) -> int | None:
    """Return the number of tasks, with those of plays that have no nodes; None if it is not known."""
    command = [str(_program("ansible-playbook")), "-i", str(inventory), "--list-tasks", f"{playbook}.yml"]
    variables = {**os.environ, **environment}
    try:
        done = subprocess.run(
            command,
            cwd=DIRECTORY,
            env=variables,
            capture_output=True,
            text=True,
            timeout=_LIST_LIMIT_S,
            check=True,
        )
    except subprocess.SubprocessError:
        return None  # an unreadable playbook is an error of the run itself
    return sum(_VALIDATION not in title for title in _LISTED_TASK.findall(done.stdout))


def _environment(directory: Path, inventory: Path) -> dict[str, str]:
    """Return the environment of this Python's Ansible, with our settings and verified host keys.

    A user's variables have precedence over settings, so the relevant ones are set or refused.
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
    """Make a directory for files of runner and SSH; at the end, end all processes that use one of them."""
    is_short = len(tempfile.gettempdir()) <= _DIRECTORY_LENGTH_MAX
    directory = Path(tempfile.mkdtemp(prefix="rogue-", dir=None if is_short else "/tmp"))
    (directory / "runner").mkdir()
    try:
        yield directory
    finally:
        for socket in (directory / "ssh").glob("*"):
            command = ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "node"]
            subprocess.run(command, capture_output=True, timeout=_CLOSE_LIMIT_S, check=False)
        end_processes(directory)
        shutil.rmtree(directory, ignore_errors=True)


def find_processes(word: str) -> Iterator[int]:
    """Yield the processes, other than this one, with the word in their command line."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):  # it has ended
            if word.encode() in (entry / "cmdline").read_bytes():
                yield int(entry.name)


def end_processes(directory: Path) -> None:
    """Kill the processes that name a file below a private directory, and wait for their end.

    Ansible's workers have sessions of their own, so ansible-runner does not kill them after Ctrl-C.
    """
    for _ in range(_LOOKS_MAX):
        pids = list(find_processes(f"{directory}/"))
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_END_POLL_S)


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Record Ctrl-C and termination signals; yield a function that is True after one."""
    received: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
