import os
import signal
import socket
import threading
from pathlib import Path

import pytest
from helpers.command_line import rogue, start_rogue
from helpers.nodes import write_inventory

from harness.provisioning.processes import find_processes

PATIENCE_S = 60


@pytest.mark.parametrize("command", ["provision", "doctor", "teardown"])
def test_help_teaches_with_examples_and_exit_codes(tmp_path: Path, command: str) -> None:
    done = rogue(tmp_path, command, "--help")
    assert done.code == 0
    assert f"rogue {command} virtual" in done.out
    assert "Exit codes:" in done.out
    assert "INVENTORY" in done.out


@pytest.mark.parametrize("command", ["provision", "doctor", "teardown"])
def test_a_missing_inventory_is_a_wrong_command_and_a_sentence(tmp_path: Path, command: str) -> None:
    done = rogue(tmp_path, command, "nowhere.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("rogue: inventory: got nowhere.yaml, expected a file")


def test_a_testbed_that_is_not_up_is_told(tmp_path: Path) -> None:
    done = rogue(tmp_path, "doctor", "virtual:nobody", XDG_STATE_HOME=str(tmp_path))
    assert done.code == 7
    assert "rogue testbed up" in done.err


def test_ctrl_c_while_a_node_does_not_reply_ends_everything_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        changes = [(f"ansible_port: {old}", f"ansible_port: {port}") for old in (4001, 4002, 4003)]
        path, log = write_inventory(tmp_path, *changes), tmp_path / "log"
        waiting = threading.Event()  # never set: whoever connects is kept waiting, too
        running = start_rogue(tmp_path, "provision", str(path), "--log", str(log))
        while not log.is_file() or "TASK [base : Tools]" not in log.read_text():
            assert running.poll() is None, running.communicate()
            waiting.wait(0.05)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, out) == (130, "")
    assert "rogue: stopped in task 1; to go on: " in err
    assert list(find_processes(f"Port={port}")) == []
