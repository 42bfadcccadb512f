"""Tests: run playbooks through ansible-runner; provision and restore nodes."""

import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from rogue.agent.node import serve
from rogue.agent.node.bundle import agent_archive
from rogue.harness.errors import UsageError
from rogue.harness.provisioning import playbook
from rogue.harness.provisioning import provision as module
from rogue.harness.provisioning.findings import Finding
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.linux_switch import PortSettings, port_lines
from rogue.harness.provisioning.places import AGENT, DOOL, SPOOL
from rogue.harness.provisioning.playbook import (
    Interrupted,
    Order,
    PlaybookResult,
    TaskFailure,
    end_processes,
    find_processes,
    is_task_start,
    run_playbook,
    ssh_variables,
    task_title,
)
from rogue.harness.provisioning.provision import (
    Reached,
    provision,
    teardown,
)
from rogue.remote.errors import NodeError
from rogue.remote.login import Destination

HERE = "all: {hosts: {here: {ansible_connection: local, ansible_python_interpreter: auto_silent}}}\n"
GOOD = """\
- name: Here
  hosts: all
  gather_facts: false
  tasks:
    - {name: Say it, ansible.builtin.debug: {msg: "{{ word }}"}}
    - {name: Change it, ansible.builtin.set_fact: {a: b}, changed_when: true}
"""
BAD = """\
- name: Here
  hosts: all
  gather_facts: false
  tasks:
    - {name: Refuse, ansible.builtin.fail: {msg: the disk is full}}
"""
ENDLESS = """\
- name: Here
  hosts: all
  gather_facts: false
  tasks:
    - {name: Wait, ansible.builtin.pause: {seconds: 600}}
"""


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def order(directory: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Order:
    (directory / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory / "scratch"))
    monkeypatch.setattr(playbook, "DIRECTORY", directory)
    (directory / "ansible.cfg").write_text("")
    (directory / "here.yml").write_text(text)
    (directory / "nodes.yaml").write_text(HERE)
    return Order("here", "trying", directory / "nodes.yaml", directory / "logs" / "log", {"word": "hello"})


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_tasks_are_counted_shown_and_logged(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run_playbook(order(tmp_path, GOOD, monkeypatch), console)
    assert (done.tasks_done, done.failures, done.changes) == (2, [], {"here": ["Change it"]})
    assert shown(console).splitlines() == ["trying: [1/2] Say it", "trying: [2/2] Change it"]
    assert "hello" in (tmp_path / "logs" / "log").read_text()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_failure_on_a_node_is_in_the_result(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: PlaybookResult = run_playbook(order(tmp_path, BAD, monkeypatch), console)
    assert list(map(str, done.failures)) == ["here: Refuse: the disk is full"]


def test_invalid_playbook_is_an_error(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NodeError, match=r"here\.yml: Ansible could not run it: "):
        run_playbook(order(tmp_path, "- hosts: all\n  rolls: []\n", monkeypatch), console)


def test_ctrl_c_raises_interrupted_with_the_results(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = order(tmp_path, ENDLESS, monkeypatch)
    handler = signal.getsignal(signal.SIGINT)

    def interrupt_once_it_waits() -> None:
        while not endless.log.is_file() or "Wait" not in endless.log.read_text():
            event.wait(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    event = threading.Event()
    watcher = threading.Thread(target=interrupt_once_it_waits)
    watcher.start()
    with pytest.raises(Interrupted) as stopped:
        run_playbook(endless, console)
    watcher.join()
    assert stopped.value.played.tasks_done == 1
    assert list(find_processes(str(tmp_path))) == []
    assert signal.getsignal(signal.SIGINT) is handler
    assert list((tmp_path / "scratch").iterdir()) == []


PRINTING = """\
- name: Here
  hosts: all
  gather_facts: false
  tasks:
    - name: Print
      ansible.builtin.debug:
        msg: >-
          checking {{ lookup('config', 'HOST_KEY_CHECKING') }}
          {{ lookup('config', 'host_key_checking', plugin_type='connection', plugin_name='ssh') }}
"""


@pytest.mark.parametrize("variable", ["ANSIBLE_HOST_KEY_CHECKING", "ANSIBLE_SSH_HOST_KEY_CHECKING"])
def test_environment_cannot_disable_host_key_checking(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "False")
    run_playbook(order(tmp_path, PRINTING, monkeypatch), console)
    assert "checking True True" in (tmp_path / "logs" / "log").read_text()


def test_unverified_ssh_arguments_of_the_environment_are_refused(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_SSH_COMMON_ARGS", "-o StrictHostKeyChecking=no")
    with pytest.raises(
        UsageError, match="got ANSIBLE_SSH_COMMON_ARGS='-o StrictHostKeyChecking=no', expected"
    ):
        run_playbook(order(tmp_path, GOOD, monkeypatch), console)


def test_ansible_gets_the_resolved_ssh_arguments(tmp_path: Path) -> None:
    destinations = (
        Destination("h0", "lab-1", user="bob", arguments=("-4", "-o", "Ciphers=a b")),
        Destination("h1", "lab-2", user="root", config="none"),
    )
    variables = ssh_variables(destinations, tmp_path)
    assert variables["ssh_arguments"] == {
        "h0": f"-4 -o 'Ciphers=a b' -F {tmp_path}/ssh_config_0",
        "h1": f"-F {tmp_path}/ssh_config_1",
    }
    assert variables["ssh_users"] == {"h0": "bob", "h1": "root"}
    assert (tmp_path / "ssh_config_0").read_text() == destinations[0].config_text()
    assert ssh_variables((), tmp_path) == {}


def test_only_processes_with_files_of_the_directory_are_ended(tmp_path: Path) -> None:
    ours, others = tmp_path / "ours", tmp_path / "ours-not"
    script = "import sys; print('up', flush=True); sys.stdin.read()"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(directory / "file")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for directory in (ours, others)
    ]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
    end_processes(ours)
    codes = []
    for process in started:
        process.communicate(timeout=60)
        codes.append(process.returncode)
    assert codes == [-signal.SIGKILL, 0]


def event(kind: str, **data: object) -> dict[str, object]:
    return {"event": kind, "event_data": {"role": "tcp", "task": "tcp : DCTCP", "host": "h1", **data}}


def test_changes_by_node() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_ok", res={"changed": True, "changes": ["sysctls a", "sysctls b"]}))
    played.add(event("runner_on_ok", res={"changed": True}))
    played.add(event("runner_on_ok", host="h0", res={"changed": False, "changes": []}))
    assert played.changes == {"h1": ["sysctls a", "sysctls b", "tcp: DCTCP"]}
    assert played.changed == 3


SSH = 'Task failed: Data could not be sent to remote host "h1". Make sure this host can be reached over ssh'
NO_RESULT = {"msg": "Task failed: Module result deserialization failed.", "module_stderr": "", "rc": 137}


@pytest.mark.parametrize(
    ("kind", "result", "message"),
    [
        ("failed", {"msg": "sysctl a:\n this kernel has none such"}, "sysctl a: this kernel has none such"),
        ("unreachable", {"msg": "Connection timed out"}, "cannot be reached: Connection timed out"),
        ("unreachable", {"msg": f"{SSH}: ssh: Refused"}, "cannot be reached: Refused"),
        (
            "failed",
            {**NO_RESULT, "module_stdout": "Killed\n"},
            "the module ended without a result (exit code 137); it printed: Killed",
        ),
        ("failed", NO_RESULT, "the module ended without a result (exit code 137); it printed: nothing"),
    ],
)
def test_failures_name_node_task_and_reason(kind: str, result: dict[str, object], message: str) -> None:
    played = PlaybookResult()
    played.add(event(f"runner_on_{kind}", res=result))
    assert list(map(str, played.failures)) == [f"h1: tcp: DCTCP: {message}"]


def test_facts_and_complaints_are_kept() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_ok", res={"facts": {"kernel": "6.1"}}))
    played.add({"event": "error", "stdout": "ERROR! no such\n file"})
    assert (played.facts, played.complaints) == ({"h1": {"kernel": "6.1"}}, ["ERROR! no such file"])


def test_argument_validation_is_not_counted() -> None:
    assert is_task_start(event("playbook_on_task_start"))
    assert not is_task_start(
        event("playbook_on_task_start", task="Validating arguments against arg spec 'main'")
    )
    assert not is_task_start(event("runner_on_start"))
    assert task_title({"task": "Look"}) == "Look"


class Player:
    """Replaces ansible-runner; records the order and the content of its files."""

    def __init__(self, played: PlaybookResult) -> None:
        self.played = played
        self.orders: list[Order] = []
        self.agent = b""
        self.reached = Reached()

    def play(self, order: Order, _console: Console) -> PlaybookResult:
        self.orders.append(order)
        if "agent_archive" in order.variables:
            self.agent = Path(str(order.variables["agent_archive"])).read_bytes()
        return self.played


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch) -> Player:
    fake = Player(PlaybookResult())
    monkeypatch.setattr(module, "run_playbook", fake.play)
    monkeypatch.setattr(module, "reach", lambda *_: fake.reached)
    return fake


CONSOLE = Console(file=io.StringIO())


def test_agent_and_port_trees_are_passed(inventory: Inventory, player: Player) -> None:
    ports = {"s0->h1": PortSettings(rate_bps=100_000_000)}
    provision(inventory, ports, Path("log"), CONSOLE, is_check=True)
    (order,) = player.orders
    assert (order.playbook, order.inventory, order.is_check) == ("provision", inventory.path, True)
    assert player.agent == agent_archive()
    assert not Path(str(order.variables["agent_archive"])).exists()
    trees = {"eth1": [], "eth2": port_lines("eth2", ports["s0->h1"])}
    assert order.variables["switch_linux_trees"] == trees, "a port without lines is written down, too"


def test_failed_nodes_are_named(inventory: Inventory, player: Player) -> None:
    player.played.failures = [
        TaskFailure("h0", "tcp: DCTCP", "no such module"),
        TaskFailure("h1", "tcp: DCTCP", "cannot be reached: timed out"),
    ]
    with pytest.raises(NodeError) as failed:
        teardown(inventory, Path("the.log"), CONSOLE)
    assert str(failed.value).splitlines() == [
        "teardown: failed on 2 nodes; log: the.log",
        "  h0: tcp: DCTCP: no such module",
        "  h1: tcp: DCTCP: cannot be reached: timed out",
    ]


def test_ansible_runs_on_usable_nodes_only(inventory: Inventory, player: Player) -> None:
    lack = Finding("h1", "sudo", "not allowed", "that alice may", "see sudoers")
    player.reached = Reached(failures={"h0": "SSH failed: timed out"}, lacks=[lack])
    with pytest.raises(NodeError) as failed:
        provision(inventory, {}, Path("the.log"), CONSOLE, is_check=False)
    assert [order.nodes for order in player.orders] == [("fabric",)]
    assert str(failed.value).splitlines() == [
        "provision: failed on 2 nodes; log: the.log",
        "  h0: before anything: SSH failed: timed out",
        "  h1: before anything: sudo: got not allowed, expected that alice may; see sudoers",
    ]
    player.reached.failures["fabric"] = "SSH failed: timed out"
    with pytest.raises(NodeError) as failed:
        teardown(inventory, Path("the.log"), CONSOLE)
    assert str(failed.value).splitlines() == [
        "teardown: failed on 3 nodes",
        "  h0, fabric: before anything: SSH failed: timed out",
        "  h1: before anything: sudo: got not allowed, expected that alice may; see sudoers",
    ], "no log was written, and equal reasons are one"
    assert len(player.orders) == 1, "no node was left"


PLAYBOOKS = Path(__file__).parents[3] / "playbooks"


def task(role: str, module: str) -> dict[str, Any]:
    tasks = yaml.safe_load((PLAYBOOKS / "roles" / role / "tasks/main.yml").read_text())
    (found,) = [each for each in tasks if module in each]
    return found


@pytest.mark.parametrize(
    ("role", "path", "content"), [("agent", AGENT, "agent_archive"), ("monitoring", DOOL, "monitoring_dool")]
)
def test_roles_use_the_paths_of_the_harness(role: str, path: str, content: str) -> None:
    copied = task(role, "ansible.builtin.copy")["ansible.builtin.copy"]
    assert copied == {"src": f"{{{{ {content} }}}}", "dest": path, "mode": "0755"}


def test_spool_directory_is_created() -> None:
    assert task("agent", "ansible.builtin.file")["loop"] == [str(Path(AGENT).parent), SPOOL]
    assert str(serve.SPOOL) == SPOOL
