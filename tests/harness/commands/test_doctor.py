from pathlib import Path

import pytest
from helpers.nodes import host_facts, read_inventory, switch_facts, write_inventory

from rogue.harness.commands import doctor as command
from rogue.harness.commands import opened_inventory
from rogue.harness.exit_codes import ExitCode
from rogue.harness.provisioning.clocks import ClockOffset
from rogue.harness.provisioning.findings import Examination, Finding
from rogue.harness.provisioning.inventory_file import NamedInventory


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_inventory(tmp_path_factory.mktemp("nodes"))


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened_inventory, "load_inventory", read_inventory)


def examined(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    facts = {
        "h0": host_facts("10.9.0.10", "h1"),
        "h1": {**host_facts("10.9.0.11", "h0"), **changes},
        "fabric": switch_facts(),
    }
    found = Examination(facts, {}, {"h0": ClockOffset(0.0123, 0.004)})
    monkeypatch.setattr(command, "look", lambda *_: found)
    monkeypatch.setattr(command, "deployed_files", lambda: {"/opt/rogue/dool": "aa" * 32})


def test_nodes_that_can_measure_are_listed(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examined(monkeypatch)
    assert command.examine_nodes(NamedInventory(str(path)), None) is ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split("  ")[0] == "h0"
    assert "rxe0 port 1 GID 1" in lines[1]
    assert "+12.3 ms ± 4.0 ms" in lines[1]
    assert "5.0 to 5.0 ms" in lines[1]
    assert lines[-1] == "3 nodes can measure"


def test_one_refusal_is_enough(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examined(monkeypatch, rdma_ports=[])
    assert command.examine_nodes(NamedInventory(str(path)), None) is ExitCode.TESTBED
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[-2].startswith("refused: h1: RDMA device: got none")
    assert lines[-1] == "measuring is refused; findings that refuse: 1"
    assert f"provision {path}" in shown.err


def test_a_warning_is_told_and_refuses_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examined(monkeypatch, spooled_bytes=7)
    assert command.examine_nodes(NamedInventory(str(path)), None) is ExitCode.OK
    assert "warning: h1: /var/lib/rogue/spool" in capsys.readouterr().out


def test_a_hardware_switch_that_differs_refuses(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examined(monkeypatch)
    finding = Finding("tor", "interface Ethernet1", "nothing", "`qos trust dscp`", "run `rogue switch apply`")
    monkeypatch.setattr(command, "switch_findings", lambda _inventory: [finding])
    assert command.examine_nodes(NamedInventory(str(path)), None) is ExitCode.TESTBED
    assert "refused: tor: interface Ethernet1: got nothing, expected" in capsys.readouterr().out
