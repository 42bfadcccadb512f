import io
from pathlib import Path

import pytest
from helpers.nodes import host_facts, switch_facts, write_inventory
from rich.console import Console

from rogue.harness.provisioning import doctor
from rogue.harness.provisioning.clocks import ClockOffset
from rogue.harness.provisioning.findings import Finding
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.places import AGENT_COMMAND
from rogue.harness.provisioning.playbook import Order
from rogue.harness.provisioning.playbook_events import PlaybookResult, TaskFailure
from rogue.harness.provisioning.reach import PYTHON, Reached
from rogue.remote.login import Login

CONSOLE = Console(file=io.StringIO())


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    return load_inventory(write_inventory(tmp_path_factory.mktemp("nodes")))


FILES = {"/opt/rogue/dool": "aa" * 32}


class Player:
    """Stands in for Ansible and for SSH."""

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


def test_a_silent_node_is_a_finding_and_ansible_goes_to_the_others_alone(
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


def test_where_nobody_replies_ansible_stays_at_home(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Player(monkeypatch, Reached({}, dict.fromkeys(("h0", "h1", "fabric"), "timed out")))
    assert examined(inventory) == [
        "refused: h0, h1, fabric: the node: got timed out, expected a reply; "
        "check that it runs and that SSH reaches it."
    ]
    assert player.orders == []


def test_without_python_ansible_cannot_look_without_sudo_it_can(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks = [
        Finding("h0", "sudo", "a password is required", "that alice may", "ask somebody"),
        Finding("h1", PYTHON, "none", "the one that Ansible uses", "apt-get install python3"),
    ]
    player = Player(monkeypatch, Reached(clocks("h0", "h1", "fabric"), {}, lacks))
    assert examined(inventory) == [str(lack) for lack in lacks]
    assert player.orders[0].nodes == ("h0", "fabric")


def test_a_failure_of_ansibles_is_a_finding(inventory: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = TaskFailure("h1", "Look at the node", "the disk is full")
    Player(monkeypatch, Reached(clocks("h0", "h1", "fabric")), failure)
    found = doctor.look(inventory, Path("log"), CONSOLE)
    assert (found.failures, sorted(found.clocks)) == ({"h1": "the disk is full"}, ["fabric", "h0", "h1"])


def test_hardware_switches_are_asked_before_measuring(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Player(monkeypatch, Reached(clocks("h0", "h1", "fabric")))
    finding = Finding("tor", "interface Ethernet1", "nothing", "`qos trust dscp`", "run `rogue switch apply`")
    monkeypatch.setattr(doctor, "switch_findings", lambda _inventory: [finding])
    assert finding in doctor.examine(inventory, tmp_path / "log", CONSOLE)
