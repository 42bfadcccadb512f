"""Tests: gather facts from every node, measure between hosts and judge them."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_agents import fake_inventory
from helpers.nodes import host_facts, rack_of, switch_facts
from helpers.ssh_server import served_node
from rich.console import Console

from rogue.harness.provisioning import doctor
from rogue.harness.provisioning.clocks import ClockOffset
from rogue.harness.provisioning.doctor import grouped, measure
from rogue.harness.provisioning.findings import Finding
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.places import AGENT_COMMAND
from rogue.harness.provisioning.playbook import Order, PlaybookResult, TaskFailure
from rogue.harness.provisioning.provision import PYTHON, Reached
from rogue.remote.connection import Connection
from rogue.remote.login import Login

CONSOLE = Console(file=io.StringIO())


FILES = {"/opt/rogue/dool": "aa" * 32}


class Player:
    """Replaces Ansible and SSH."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, reached: Reached, *failures: TaskFailure) -> None:
        self.orders: list[Order] = []
        self.commands: dict[str, str] = {}
        self._reached, self._failures = reached, list(failures)
        monkeypatch.setattr(doctor, "run_playbook", self.play)
        monkeypatch.setattr(doctor, "reach", self.reach)
        monkeypatch.setattr(doctor, "deployed_files", lambda: FILES)

    def play(self, order: Order, console: Console) -> PlaybookResult:
        self.orders.append(order)
        facts = {
            "h0": host_facts("10.9.0.10", "h1"),
            "h1": host_facts("10.9.0.11", "h0"),
            "fabric": switch_facts(),
        }
        failed = {failure.node for failure in self._failures}
        return PlaybookResult(
            failures=self._failures, facts={name: facts[name] for name in order.nodes if name not in failed}
        )

    def reach(self, logins: tuple[Login, ...], commands: dict[str, str]) -> Reached:
        self.commands = commands
        return self._reached


def clocks(*names: str) -> dict[str, ClockOffset]:
    return {name: ClockOffset(0.0, 0.01) for name in names}


def examined(inventory: Inventory) -> list[str]:
    return [str(finding) for finding in doctor.examine(inventory, Path("log"), CONSOLE)]


def test_silent_node_is_a_finding_and_skipped_by_ansible(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Player(monkeypatch, Reached(clocks("h0", "fabric"), {"h1": "SSH failed: timed out"}))
    assert examined(inventory) == [
        "refused: h1: the node: got SSH failed: timed out, expected a reply; "
        "check that it runs and that SSH reaches it."
    ]
    (order,) = player.orders
    assert order.nodes == ("h0", "fabric")
    assert player.commands == {"h0": AGENT_COMMAND, "h1": AGENT_COMMAND, "fabric": "true"}


def test_ansible_does_not_run_without_replies(inventory: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player(monkeypatch, Reached({}, dict.fromkeys(("h0", "h1", "fabric"), "timed out")))
    assert examined(inventory) == [
        "refused: h0, h1, fabric: the node: got timed out, expected a reply; "
        "check that it runs and that SSH reaches it."
    ]
    assert player.orders == []


def test_ansible_needs_python_but_not_sudo(inventory: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = [
        Finding("h0", "sudo", "a password is required", "that alice may", "see sudoers"),
        Finding("h1", PYTHON, "none", "the one that Ansible uses", "apt-get install python3"),
    ]
    player = Player(monkeypatch, Reached(clocks("h0", "h1", "fabric"), {}, lacks))
    assert examined(inventory) == [str(lack) for lack in lacks]
    assert player.orders[0].nodes == ("h0", "fabric")


def test_ansible_failure_is_a_finding(inventory: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = TaskFailure("h1", "Look at the node", "the disk is full")
    Player(monkeypatch, Reached(clocks("h0", "h1", "fabric")), failure)
    found = doctor.look(inventory, Path("log"), CONSOLE)
    assert (found.failures, sorted(found.clocks)) == ({"h1": "the disk is full"}, ["fabric", "h0", "h1"])


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the measurements, with the replies of the hosts that have a connection."""
    found: list[str] = []
    for name in ("transfers", "marks"):

        def note(
            _inventory: object, _facts: object, connections: dict[str, Connection], name: str = name
        ) -> list[Finding]:
            replies = (each.run(f"echo {node}").strip() for node, each in connections.items())
            found.append(f"{name} of {' '.join(replies)}")
            return []

        monkeypatch.setattr(doctor, f"measure_{name}", note)
    return found


def rack_at(login: Login, unknown: str = "") -> Inventory:
    """Return a rack whose hosts are this computer's SSH server; the key of one may be unknown."""
    rack = rack_of("declared")
    files = {host.name: () if host.name == unknown else login.known_hosts for host in rack.hosts}
    hosts = [
        replace(host, login=replace(login, node=host.name, known_hosts=files[host.name]))
        for host in rack.hosts
    ]
    return replace(rack, hosts=tuple(hosts))


def test_one_connection_for_each_host(measured: list[str], tmp_path: Path) -> None:
    with served_node(tmp_path) as login:
        assert measure(rack_at(login), {}) == []
    assert measured == ["transfers of h0 h1 h2 h3", "marks of h0 h1 h2 h3"]


def test_marks_need_all_hosts(measured: list[str], tmp_path: Path) -> None:
    with served_node(tmp_path) as login:
        (finding,) = measure(rack_at(login, unknown="h1"), {})
    assert (finding.node, measured) == ("h1", ["transfers of h0 h2 h3"])
    assert finding.got.startswith("no host key of")


def test_nothing_to_measure_logs_in_to_no_host(measured: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "Connections", None)
    plain = replace(fake_inventory(), hardware_switches=())
    assert (measure(plain, {}), measured) == ([], [])


def not_provisioned(node: str) -> Finding:
    return Finding(node, "state", "a node that is not provisioned", "a provisioned one", "run it")


def test_equal_findings_are_joined_in_inventory_order() -> None:
    nodes = ("h0", "h2", "h3", "h10")
    (found,) = grouped(map(not_provisioned, ("h3", "h10", "h2")), nodes)
    assert str(found) == (
        "refused: h2, h3, h10: state: got a node that is not provisioned, expected a provisioned one; run it."
    )


def test_different_findings_stay_separate_in_the_place_of_the_first() -> None:
    warning = replace(not_provisioned("h1"), refuses=False)
    other = replace(not_provisioned("h2"), got="another")
    found = grouped([not_provisioned("h0"), warning, other, not_provisioned("h3")])
    assert found == [not_provisioned("h0, h3"), warning, other]
