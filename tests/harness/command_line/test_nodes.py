import os
import signal
import socket
from pathlib import Path

import paramiko
import pytest
from helpers.command_line import rogue, start_rogue
from helpers.nodes import write_inventory

from rogue.harness.provisioning.reach import REACH_LIMIT_S

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
    key = paramiko.ECDSAKey.generate()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE_S)
        port = silent.getsockname()[1]
        changes = [(f" {old}", f" {port}{old[4:]}") for old in ("4001,", "4002,", "4003\n")]
        path, log = write_inventory(tmp_path, *changes), tmp_path / "log"
        known = f"[127.0.0.1]:{port} {key.get_name()} {key.get_base64()}\n"
        (tmp_path / "known_hosts").write_text(known)
        running = start_rogue(tmp_path, "provision", str(path), "--log", str(log))
        connection, _ = silent.accept()
        with connection:  # it is kept waiting
            os.killpg(running.pid, signal.SIGINT)
            out, err = running.communicate(timeout=REACH_LIMIT_S / 2)
    assert (running.returncode, out) == (130, "")
    assert "rogue: stopped before the first task; to go on: " in err
    assert not log.exists(), "Ansible went nowhere"
