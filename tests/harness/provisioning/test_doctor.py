import io
from pathlib import Path

import pytest
from helpers.nodes import host_facts, switch_facts, write_inventory
from rich.console import Console

from harness.provisioning import doctor
from harness.provisioning.clocks import ClockOffset
from harness.provisioning.events import PlaybookResult, TaskFailure
from harness.provisioning.inventory import Inventory, load_inventory
from remote.errors import NodeError
from remote.login import Login

CONSOLE = Console(file=io.StringIO())


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    return load_inventory(write_inventory(tmp_path_factory.mktemp("nodes")))


def test_a_node_that_fails_is_a_finding_and_the_others_are_looked_at(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clock(login: Login) -> ClockOffset:
        if login.node == "h1":
            raise NodeError("h1: SSH failed: timed out")
        return ClockOffset(0.0, 0.01)

    played = PlaybookResult(
        failures=[TaskFailure("h1", "Look at the node", "cannot be reached: no route")],
        facts={"h0": host_facts("10.9.0.10", "h1"), "fabric": switch_facts()},
    )
    monkeypatch.setattr(doctor, "run_playbook", lambda order, console: played)
    monkeypatch.setattr(doctor, "_clock", clock)
    files = {"/opt/rogue/dool": "aa" * 32}
    monkeypatch.setattr(doctor, "deployed_files", lambda: files)
    found = doctor.look(inventory, Path("log"), CONSOLE)
    assert found.failures == {"h1": "SSH failed: timed out"}
    assert sorted(found.clocks) == ["fabric", "h0"]
    assert [str(finding) for finding in doctor.examine(inventory, Path("log"), CONSOLE)] == [
        "refused: h1: the node: got SSH failed: timed out, expected a reply; "
        "check that it runs and that SSH reaches it."
    ]
