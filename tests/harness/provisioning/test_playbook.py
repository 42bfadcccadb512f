"""Tests: run a playbook through ansible-runner: watch it, stop it, explain failures."""

import io
import os
import signal
import subprocess
import sys
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
    end_processes,
    find_processes,
    run_playbook,
    ssh_variables,
)
from rogue.harness.provisioning.playbook_events import PlaybookResult
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
    assert (done.tasks_done, done.failures, done.changes) == (2, [], {"here": ["something"]})
    assert "[1/2] Say it: nothing to change" in shown(console)
    assert "[2/2] Change it: changed here" in shown(console)
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
    with pytest.raises(NodeError, match=r"here\.yml: Ansible cannot read it: "):
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
    assert list(find_processes(str(tmp_path))) == [], "nothing goes on behind our back"
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
    assert variables["ssh_ways"] == {
        "h0": f"-4 -o 'Ciphers=a b' -F {tmp_path}/ssh_config_0",
        "h1": f"-F {tmp_path}/ssh_config_1",
    }
    assert variables["ssh_users"] == {"h0": "bob", "h1": "root"}
    assert (tmp_path / "ssh_config_0").read_text() == destinations[0].config_text()
    assert ssh_variables((), tmp_path) == {}


PATIENCE_S = 60


def test_whoever_names_a_file_of_the_directory_is_ended_and_nobody_else(tmp_path: Path) -> None:
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
    started[0].communicate(timeout=PATIENCE_S)
    assert started[0].returncode == -9
    assert list(find_processes(f"{others}/")) == [started[1].pid]
    started[1].communicate(timeout=PATIENCE_S)
    assert started[1].returncode == 0


def test_this_process_is_never_found() -> None:
    assert list(find_processes("no process has this in its command line \0")) == []
