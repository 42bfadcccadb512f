"""Tests: run a playbook through ansible-runner, and follow its events."""

import io
import os
import re
import signal
import tempfile
import threading
from pathlib import Path

import pytest
from rich.console import Console

from rogue.harness.errors import UsageError
from rogue.harness.provisioning import playbook
from rogue.harness.provisioning.playbook import (
    Interrupted,
    Order,
    PlaybookResult,
    TaskDisplay,
    is_task_start,
    run_playbook,
    ssh_variables,
    task_title,
)
from rogue.remote.destination import Destination
from rogue.remote.errors import NodeError

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
    assert "[1] Say it: nothing to change" in shown(console)
    assert "[2] Change it: changed here" in shown(console)
    assert "hello" in (tmp_path / "logs" / "log").read_text()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_failure_on_a_node_is_part_of_what_it_did(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: PlaybookResult = run_playbook(order(tmp_path, BAD, monkeypatch), console)
    assert list(map(str, done.failures)) == ["here: Refuse: the disk is full"]


def test_a_playbook_that_is_none_is_told_at_once(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NodeError, match=r"here\.yml: Ansible could not run it: "):
        run_playbook(order(tmp_path, "- hosts: all\n  rolls: []\n", monkeypatch), console)


def test_ctrl_c_ends_it_and_says_how_far_it_came(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = order(tmp_path, ENDLESS, monkeypatch)
    handler = signal.getsignal(signal.SIGINT)

    def interrupt_once_it_waits() -> None:
        while not asked.log.is_file() or "Wait" not in asked.log.read_text():
            event.wait(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    event = threading.Event()
    watcher = threading.Thread(target=interrupt_once_it_waits)
    watcher.start()
    with pytest.raises(Interrupted) as stopped:
        run_playbook(asked, console)
    watcher.join()
    assert stopped.value.played.tasks_done == 1
    assert signal.getsignal(signal.SIGINT) is handler
    assert list((tmp_path / "scratch").iterdir()) == []


PRINTING = """\
- name: Here
  hosts: all
  gather_facts: false
  tasks:
    - {name: Say it, ansible.builtin.debug: {msg: "checking {{ lookup('config', 'HOST_KEY_CHECKING') }}"}}
"""


def test_host_keys_are_verified_whatever_the_environment_says(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_HOST_KEY_CHECKING", "False")
    run_playbook(order(tmp_path, PRINTING, monkeypatch), console)
    assert "checking True" in (tmp_path / "logs" / "log").read_text()


def test_arguments_of_ssh_that_verify_nothing_are_refused(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_SSH_COMMON_ARGS", "-o StrictHostKeyChecking=no")
    with pytest.raises(
        UsageError, match="got ANSIBLE_SSH_COMMON_ARGS='-o StrictHostKeyChecking=no', expected"
    ):
        run_playbook(order(tmp_path, GOOD, monkeypatch), console)


def test_ansible_calls_ssh_as_the_inventory_was_resolved(tmp_path: Path) -> None:
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


def event(kind: str, **data: object) -> dict[str, object]:
    return {"event": kind, "event_data": {"role": "tcp", "task": "tcp : DCTCP", "host": "h1", **data}}


def test_changes_are_counted_per_node_and_thing() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_ok", res={"changed": True, "changes": ["sysctls a", "sysctls b"]}))
    played.add(event("runner_on_ok", res={"changed": True}))
    played.add(event("runner_on_ok", host="h0", res={"changed": False, "changes": []}))
    assert played.changes == {"h1": ["sysctls a", "sysctls b", "tcp: DCTCP"]}
    assert played.changed == 3


def test_a_failure_says_node_task_and_why() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_failed", res={"msg": "sysctl a:\n this kernel has none such"}))
    played.add(event("runner_on_unreachable", host="h2", res={"msg": "Connection timed out"}))
    assert list(map(str, played.failures)) == [
        "h1: tcp: DCTCP: sysctl a: this kernel has none such",
        "h2: tcp: DCTCP: cannot be reached: Connection timed out",
    ]


def test_the_wrapping_of_what_ssh_says_is_taken_off() -> None:
    wrapped = (
        'Task failed: Data could not be sent to remote host "127.0.0.1". Make sure this host can be reached'
    )
    played = PlaybookResult()
    said = "ssh: connect to host 127.0.0.1 port 1: Connection refused"
    played.add(event("runner_on_unreachable", res={"msg": f"{wrapped} over ssh: {said}"}))
    expected = "h1: tcp: DCTCP: cannot be reached: connect to host 127.0.0.1 port 1: Connection refused"
    assert str(played.failures[0]) == expected


def test_a_module_without_a_result_is_told_by_what_it_printed() -> None:
    played = PlaybookResult()
    result = {"msg": "Task failed: Module result deserialization failed.", "module_stderr": "", "rc": 137}
    played.add(event("runner_on_failed", res={**result, "module_stdout": "Killed\n"}))
    played.add(event("runner_on_failed", res=result))
    assert [failure.message for failure in played.failures] == [
        "the module ended without a result (exit code 137); it printed: Killed",
        "the module ended without a result (exit code 137); it printed: nothing",
    ]


def test_wrong_arguments_of_a_role_are_told() -> None:
    played = PlaybookResult()
    result = {"msg": "Validation of arguments failed:", "argument_errors": ["missing required arguments: a"]}
    played.add(event("runner_on_failed", res=result))
    assert "missing required arguments: a" in played.failures[0].message


def test_an_ignored_failure_is_none() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_failed", ignore_errors=True, res={"msg": "no"}))
    assert played.failures == []


def test_facts_and_ansibles_own_words_are_kept() -> None:
    played = PlaybookResult()
    played.add(event("runner_on_ok", res={"facts": {"kernel": "6.1"}}))
    played.add({"event": "error", "stdout": "ERROR! no such\n file"})
    assert (played.facts, played.complaints) == ({"h1": {"kernel": "6.1"}}, ["ERROR! no such file"])


def test_what_ansible_checks_by_itself_is_no_task_to_wait_for() -> None:
    assert is_task_start(event("playbook_on_task_start"))
    assert not is_task_start(
        event("playbook_on_task_start", task="Validating arguments against arg spec 'main'")
    )
    assert not is_task_start(event("runner_on_start"))
    assert task_title({"task": "Look"}) == "Look"


def start(task: str) -> dict[str, object]:
    return {"event": "playbook_on_task_start", "event_data": {"role": "tcp", "task": task}}


def on_node(kind: str, node: str, *, changed: bool = False) -> dict[str, object]:
    return {"event": kind, "event_data": {"host": node, "res": {"changed": changed}}}


def displayed(*events: dict[str, object], terminal: bool = False) -> str:
    text = io.StringIO()
    with TaskDisplay("provisioning", Console(file=text, force_terminal=terminal, width=200)) as display:
        for event in events:
            display.on_event(event)
    return text.getvalue()


def test_elsewhere_than_on_a_terminal_each_finished_task_is_a_line() -> None:
    text = displayed(
        start("Load"),
        *(on_node("runner_on_start", node) for node in ("h1", "h0")),
        on_node("runner_on_ok", "h1", changed=True),
        on_node("runner_on_ok", "h0", changed=True),
        start("Validating arguments against arg spec 'main'"),
        on_node("runner_on_ok", "h0"),
        start("Set"),
        on_node("runner_on_ok", "h0"),
    )
    assert re.sub(r"\d+\.\d s", "T", text).splitlines() == [
        "[1] tcp: Load: changed h0, h1, T",
        "[2] tcp: Set: nothing to change, T",
    ]


def test_nodes_that_failed_are_named_in_the_line() -> None:
    text = displayed(
        start("Load"),
        on_node("runner_on_ok", "h0", changed=True),
        on_node("runner_on_failed", "h2"),
        on_node("runner_on_unreachable", "h1"),
    )
    assert "[1] tcp: Load: changed h0; failed on h1, h2, " in text


def test_a_terminal_shows_task_and_nodes_that_still_work_on_it() -> None:
    text = displayed(
        start("Load"), on_node("runner_on_start", "h0"), on_node("runner_on_start", "h1"), terminal=True
    )
    assert "provisioning: tcp: Load (h0, h1)" in text
