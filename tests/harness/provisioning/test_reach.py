"""Tests: visits to nodes: clocks, Python, sudo, jump hosts."""

import io
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.ssh_server import served_node
from helpers.sshd import Laboratory, Server, laboratory
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rogue.agent.node.bundle import agent_archive
from rogue.harness.provisioning import inventory_source
from rogue.harness.provisioning import provision as module
from rogue.harness.provisioning.clocks import ClockOffset, best_offset, clock_offset, exchange
from rogue.harness.provisioning.doctor import look
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.places import AGENT_COMMAND
from rogue.harness.provisioning.provision import provision, reach
from rogue.harness.testbeds.base import TestbedError
from rogue.harness.testbeds.ssh import nodes as node_module
from rogue.harness.testbeds.ssh.nodes import open_node
from rogue.remote.connection import connect
from rogue.remote.login import Login


def test_clock_offset_of_one_exchange() -> None:
    times = iter([100.0, 100.4])
    assert exchange(lambda: 107.3, lambda: next(times)) == ClockOffset(pytest.approx(7.1), pytest.approx(0.2))


def test_clock_offset_of_this_machine_is_zero(tmp_path: Path) -> None:
    with served_node(tmp_path) as login, connect(login, limit_s=20.0) as shell:
        found = clock_offset(shell)
    assert abs(found.offset_s) <= found.uncertainty_s + 0.001


def test_best_offset_has_the_shortest_round_trip() -> None:
    offsets = [ClockOffset(1.0, 0.5), ClockOffset(1.2, 0.1), ClockOffset(0.9, 0.3)]
    assert best_offset(offsets) == ClockOffset(1.2, 0.1)


@given(st.floats(-1e6, 1e6), st.floats(0, 10), st.floats(0, 10))
def test_true_offset_is_within_the_uncertainty(offset_s: float, there_s: float, back_s: float) -> None:
    times = iter([0.0, there_s + back_s])
    found = exchange(lambda: there_s + offset_s, lambda: next(times))
    assert abs(found.offset_s - offset_s) <= found.uncertainty_s + 1e-9


PATIENCE_S = 10
SUDO = """\
#!/bin/sh
echo "$*" >>{log}
[ "$*" = "-n -l true" ] && exit 0
echo 'sudo: a password is required' >&2
exit 1
"""


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Login]:
    with served_node(tmp_path) as served:
        yield served


@pytest.fixture
def sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a `sudo` that allows `true`; return the file in which it logs its arguments."""
    program, log = tmp_path / "bin" / "sudo", tmp_path / "log"
    program.parent.mkdir()
    program.write_text(SUDO.format(log=log))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return log


def test_correct_node_lacks_nothing(login: Login) -> None:
    reached = reach([login], {"h0": AGENT_COMMAND})
    assert (reached.failures, reached.lacks) == ({}, [])
    assert abs(reached.clocks["h0"].offset_s) < 60
    assert reached.reasons() == {}


def test_missing_sudo_right_is_a_finding(login: Login, sudo: Path) -> None:
    reached = reach([replace(login, user="alice")], {"h0": AGENT_COMMAND})
    assert [str(lack) for lack in reached.lacks] == [
        "refused: h0: sudo: got sudo: a password is required, expected that alice may run "
        f"`{AGENT_COMMAND}` as root without a password; give sudo the line in "
        "docs/tutorials/own-nodes.md."
    ]
    assert sudo.read_text() == f"-n -l {AGENT_COMMAND}\n", "listed, not run"
    assert reached.reasons()["h0"].startswith("sudo: got sudo: a password is required, expected that alice")
    assert list(reached.clocks) == ["h0"]


def test_missing_python_is_a_finding(login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PYTHON", "/nowhere/python3")
    (lack,) = reach([login], {"h0": "true"}).lacks
    assert str(lack) == (
        "refused: h0: /nowhere/python3: got none, expected the one that Ansible and the agent use; "
        "apt-get install python3."
    )


def test_unknown_keys_are_reported_together(login: Login, tmp_path: Path) -> None:
    strangers = [
        replace(login, node=node, address=address, known_hosts=(tmp_path / "none",))
        for node, address in (("h1", "127.0.0.1"), ("h2", "127.0.0.2"))
    ]
    reached = reach([login, *strangers], dict.fromkeys(("h0", "h1", "h2"), "true"))
    assert list(reached.clocks) == ["h0"]
    assert reached.failures["h1"] == reached.failures["h2"]
    assert f"`ssh-keyscan -p {login.port} 127.0.0.1 127.0.0.2 >> {tmp_path}/none`" in reached.failures["h1"]


def test_silent_node_does_not_delay_the_others(login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REACH_LIMIT_S", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        known = login.known_hosts[0].read_text().replace(str(login.port), str(port), 1)
        login.known_hosts[0].write_text(login.known_hosts[0].read_text() + known)
        silent = replace(login, node="h1", port=port)
        reached = reach([silent, login], {"h0": "true", "h1": "true"})
    assert list(reached.clocks) == ["h0"]
    assert list(reached.failures) == ["h1"]
    assert reached.failures["h1"].startswith("SSH failed: its SSH server did not reply in time")


def test_ctrl_c_leaves_no_waiting_thread(login: Login) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        login.known_hosts[0].write_text(
            login.known_hosts[0].read_text().replace(str(login.port), str(port), 1)
        )

        def be_silent() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1)  # of its banner
                os.kill(os.getpid(), signal.SIGINT)
                while connection.recv(4096):
                    pass

        server = threading.Thread(target=be_silent)
        before = {*threading.enumerate()}
        server.start()
        with pytest.raises(KeyboardInterrupt):
            reach([replace(login, port=port)], {"h0": "true"})
        left = {*threading.enumerate()} - before
        for thread in left:
            thread.join(PATIENCE_S)
        assert [thread.name for thread in left if thread.is_alive()] == []


pytestmark = pytest.mark.needs("sshd")
INVENTORY = """\
hosts:
  hosts:
    h0:
      ansible_host: lab-node
      ansible_ssh_common_args: -F {config}
      known_hosts_file: {known_hosts}
      experiment_address: 127.0.0.1
      experiment_interface: lo
      experiment_mtu: 1500
      rdma_device_kind: soft_roce
"""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laboratory]:
    monkeypatch.setattr(inventory_source, "_CONFIGURATIONS", (str(tmp_path),))
    with laboratory(tmp_path, monkeypatch) as found:
        yield found


def inventory_of(there: Laboratory, directory: Path) -> Inventory:
    path = directory / "nodes.yaml"
    path.write_text(INVENTORY.format(config=there.config, known_hosts=there.known_hosts))
    return load_inventory(path)


def test_doctor_reaches_a_node_behind_a_jump_host(there: Laboratory, tmp_path: Path) -> None:
    inventory = inventory_of(there, tmp_path)
    found = look(inventory, tmp_path / "log", Console(file=io.StringIO()))
    assert (found.failures, list(found.facts), list(found.clocks)) == ({}, ["h0"], ["h0"])
    # Ours, and one for all of Ansible's tasks; another one where OpenSSH's master is slow to listen.
    assert there.node.connections() == there.gate.connections()
    assert 2 <= there.gate.connections() <= 3


@pytest.mark.needs("ip")
@pytest.mark.skipif(os.geteuid() != 0, reason="provisioning needs root, or sudo without a password")
def test_provisioning_reaches_a_node_behind_a_jump_host(there: Laboratory, tmp_path: Path) -> None:
    """The node is this computer, so the playbook runs in check mode."""
    inventory = inventory_of(there, tmp_path)
    mtu = Path("/sys/class/net/lo/mtu").read_text()
    played = provision(inventory, {}, tmp_path / "log", Console(file=io.StringIO()), is_check=True)
    assert (played.failures, Path("/sys/class/net/lo/mtu").read_text()) == ([], mtu)
    assert any("/opt/rogue" in change for change in played.changes["h0"]), "the agent would be put there"
    # Ours, and one for all of Ansible's tasks; another one where OpenSSH's master is slow to listen.
    assert there.node.connections() == there.gate.connections()
    assert 2 <= there.gate.connections() <= 3


def test_run_starts_its_agent_behind_a_jump_host(
    there: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "agent.pyz"
    archive.write_bytes(agent_archive())
    monkeypatch.setattr(node_module, "start_command", lambda user: f"{sys.executable} {archive} serve")
    (host,) = inventory_of(there, tmp_path).hosts
    with open_node(host) as node:
        assert node.clock_error_ns < 10**9
    assert there.node.connections() == there.gate.connections() == 1


@pytest.mark.parametrize(
    ("unknown", "named"), [("gate", r"h0: jump host lab-gate: SSH failed: "), ("node", r"h0: SSH failed: ")]
)
def test_unknown_key_at_either_hop_is_refused_by_doctor_and_run(
    there: Laboratory, tmp_path: Path, unknown: str, named: str
) -> None:
    servers: dict[str, Server] = {"gate": there.gate, "node": there.node}
    stranger = servers.pop(unknown)
    there.config.write_text(f"StrictHostKeyChecking no\n{there.config.read_text()}")
    there.know(*servers.values())
    inventory = inventory_of(there, tmp_path)
    found = look(inventory, tmp_path / "log", Console(file=io.StringIO()))
    assert found.facts == {}
    assert f"got no host key of [127.0.0.1]:{stranger.port}" in found.failures["h0"]
    with pytest.raises(TestbedError, match=f"^{named}got no host key"), open_node(inventory.hosts[0]):
        pytest.fail("it let a stranger in")
    there.gate.connections()
