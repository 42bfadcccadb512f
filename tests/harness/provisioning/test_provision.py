"""Tests: provision nodes and restore them."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.nodes import write_inventory
from rich.console import Console

from rogue.agent.node import serve
from rogue.agent.node.bundle import agent_archive
from rogue.harness.provisioning import provision as module
from rogue.harness.provisioning.findings import Finding
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.linux_switch import PortSettings, port_lines
from rogue.harness.provisioning.places import AGENT, DOOL, SPOOL
from rogue.harness.provisioning.playbook import Order, PlaybookResult, TaskFailure
from rogue.harness.provisioning.provision import (
    LOGS,
    deployed_files,
    dool_script,
    log_file,
    provision,
    teardown,
)
from rogue.harness.provisioning.reach import Reached
from rogue.remote.errors import NodeError


class Player:
    """Stands in for ansible-runner; keeps the order and what its files held at that moment."""

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


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    return load_inventory(write_inventory(tmp_path_factory.mktemp("nodes")))


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch) -> Player:
    fake = Player(PlaybookResult())
    monkeypatch.setattr(module, "run_playbook", fake.play)
    monkeypatch.setattr(module, "reach", lambda *_: fake.reached)
    return fake


CONSOLE = Console(file=io.StringIO())


def test_todays_agent_and_the_ports_trees_go_to_the_nodes(inventory: Inventory, player: Player) -> None:
    ports = {"s0->h1": PortSettings(rate_bps=100_000_000)}
    provision(inventory, ports, Path("log"), CONSOLE, is_check=True)
    (order,) = player.orders
    assert (order.playbook, order.inventory, order.is_check) == ("provision", inventory.path, True)
    assert player.agent == agent_archive()
    assert not Path(str(order.variables["agent_archive"])).exists()
    trees = {"eth1": [], "eth2": port_lines("eth2", ports["s0->h1"])}
    assert order.variables["switch_linux_trees"] == trees, "a port without lines is written down, too"


def test_every_node_that_failed_is_named(inventory: Inventory, player: Player) -> None:
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


def test_ansible_goes_only_where_it_can_work(inventory: Inventory, player: Player) -> None:
    lack = Finding("h1", "sudo", "not allowed", "that alice may", "ask somebody")
    player.reached = Reached(failures={"h0": "SSH failed: timed out"}, lacks=[lack])
    with pytest.raises(NodeError) as failed:
        provision(inventory, {}, Path("the.log"), CONSOLE, is_check=False)
    assert [order.nodes for order in player.orders] == [("fabric",)]
    assert str(failed.value).splitlines() == [
        "provision: failed on 2 nodes; log: the.log",
        "  h0: before anything: SSH failed: timed out",
        "  h1: before anything: sudo: got not allowed, expected that alice may; ask somebody",
    ]
    player.reached.failures["fabric"] = "SSH failed: timed out"
    with pytest.raises(NodeError) as failed:
        teardown(inventory, Path("the.log"), CONSOLE)
    assert str(failed.value).splitlines() == [
        "teardown: failed on 3 nodes",
        "  h0, fabric: before anything: SSH failed: timed out",
        "  h1: before anything: sudo: got not allowed, expected that alice may; ask somebody",
    ], "no log was written, and equal reasons are one"
    assert len(player.orders) == 1, "nobody was left to go to"


def test_dool_is_one_script_that_runs_by_itself(tmp_path: Path) -> None:
    alone = tmp_path / "dool"
    alone.write_bytes(dool_script().read_bytes())
    command = [sys.executable, "-I", "-S", str(alone), "--version"]
    said = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path
    ).stdout
    assert "1." in said


def test_checksums_are_of_what_is_put_there() -> None:
    files = deployed_files()
    assert sorted(files) == ["/opt/rogue/dool", "/opt/rogue/rogue-agent.pyz"]
    assert all(len(checksum) == 64 for checksum in files.values())


def test_the_file_asked_for_is_taken_and_otherwise_one_is_made_up() -> None:
    assert log_file(Path("x.log"), "doctor") == Path("x.log")
    assert log_file(None, "doctor").parent == LOGS
    assert log_file(None, "doctor").name.endswith("Z-doctor.log")


PLAYBOOKS = Path(__file__).parents[3] / "playbooks"


def task(role: str, module: str) -> dict[str, Any]:
    tasks = yaml.safe_load((PLAYBOOKS / "roles" / role / "tasks/main.yml").read_text())
    (found,) = [each for each in tasks if module in each]
    return found


@pytest.mark.parametrize(
    ("role", "path", "content"), [("agent", AGENT, "agent_archive"), ("monitoring", DOOL, "monitoring_dool")]
)
def test_roles_put_files_where_the_harness_looks(role: str, path: str, content: str) -> None:
    copied = task(role, "ansible.builtin.copy")["ansible.builtin.copy"]
    assert copied == {"src": f"{{{{ {content} }}}}", "dest": path, "mode": "0755"}


def test_samples_have_the_place_that_was_made_for_them() -> None:
    assert task("agent", "ansible.builtin.file")["loop"] == [str(Path(AGENT).parent), SPOOL]
    assert str(serve.SPOOL) == SPOOL


def test_the_doctor_sums_up_the_same_files() -> None:
    preflight = (PLAYBOOKS / "preflight.yml").read_text()
    assert f"['{AGENT}', '{DOOL}']" in preflight
