"""Ansible, the doctor and runs go to an alias behind a jump host alike: real OpenSSH servers and agent."""

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.sshd import Laboratory, Server, laboratory
from rich.console import Console

from rogue.agent.node.bundle import agent_archive
from rogue.harness.provisioning import inventory_trust
from rogue.harness.provisioning.doctor import look
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.provision import provision
from rogue.harness.testbeds.base import TestbedError
from rogue.harness.testbeds.ssh import nodes as node_module
from rogue.harness.testbeds.ssh.nodes import open_node

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
      rdma_device_kind: card
"""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laboratory]:
    monkeypatch.setattr(inventory_trust, "_CONFIGURATIONS", (str(tmp_path),))
    with laboratory(tmp_path, monkeypatch) as found:
        yield found


def inventory_of(there: Laboratory, directory: Path) -> Inventory:
    path = directory / "nodes.yaml"
    path.write_text(INVENTORY.format(config=there.config, known_hosts=there.known_hosts))
    return load_inventory(path)


def test_the_doctor_looks_at_it_with_ansible_and_without(there: Laboratory, tmp_path: Path) -> None:
    inventory = inventory_of(there, tmp_path)
    found = look(inventory, tmp_path / "log", Console(file=io.StringIO()))
    assert (found.failures, list(found.facts), list(found.clocks)) == ({}, ["h0"], ["h0"])
    # Ours, and one for all of Ansible's tasks; another one where OpenSSH's master is slow to listen.
    assert there.node.connections() == there.gate.connections()
    assert 2 <= there.gate.connections() <= 3


@pytest.mark.needs("ip")
@pytest.mark.skipif(os.geteuid() != 0, reason="provisioning needs root, or sudo without a password")
def test_provisioning_goes_there_with_ansible(there: Laboratory, tmp_path: Path) -> None:
    """In check mode, for the node is this computer: every role is played, and nothing is changed."""
    inventory = inventory_of(there, tmp_path)
    mtu = Path("/sys/class/net/lo/mtu").read_text()
    played = provision(inventory, {}, tmp_path / "log", Console(file=io.StringIO()), is_check=True)
    assert (played.failures, Path("/sys/class/net/lo/mtu").read_text()) == ([], mtu)
    assert any("rogue-agent.pyz" in change for change in played.changes["h0"]), "it would be put there"
    # Ours, and one for all of Ansible's tasks; another one where OpenSSH's master is slow to listen.
    assert there.node.connections() == there.gate.connections()
    assert 2 <= there.gate.connections() <= 3


def test_a_run_starts_its_agent_there(
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
def test_a_key_that_is_not_known_is_refused_at_either_hop_by_ansible_and_runs(
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
