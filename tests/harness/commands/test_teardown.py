from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_switch import LOGIN, hardware, wanted
from helpers.nodes import read_inventory, write_inventory

from rogue.harness.commands import provision as command
from rogue.harness.errors import ExitCode, StoppedError
from rogue.harness.provisioning.playbook import Interrupted
from rogue.harness.provisioning.playbook_events import PlaybookResult
from rogue.remote.errors import NodeError


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_inventory(tmp_path_factory.mktemp("nodes"))


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rogue.harness.provisioning.inventory.load_inventory", read_inventory)


def test_it_says_how_much_was_put_back(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "rogue.harness.provisioning.provision.teardown",
        lambda *_: PlaybookResult(changes={"h0": ["mtu eth1"]}),
    )
    assert command.teardown(str(path)) is ExitCode.OK
    assert capsys.readouterr().out == "put back: 1, on 1 of 3 nodes\n"


def test_ctrl_c_loses_nothing_that_is_written_down(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> PlaybookResult:
        raise Interrupted(PlaybookResult())

    monkeypatch.setattr("rogue.harness.provisioning.provision.teardown", interrupted)
    with pytest.raises(StoppedError, match="what is left stays written down on the nodes"):
        command.teardown(str(path))


def test_hardware_switches_are_put_back_and_their_failures_stop_nobody(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rack = replace(read_inventory(path), switch=None, hardware_switches=(hardware(wanted("eos"), LOGIN),))
    torn_down = []

    def gone(_switch: object) -> None:
        raise NodeError("tor: it is gone")

    monkeypatch.setattr("rogue.harness.provisioning.inventory.load_inventory", lambda _path, is_trusted: rack)
    monkeypatch.setattr(command, "put_back", gone)
    monkeypatch.setattr(
        "rogue.harness.provisioning.provision.teardown",
        lambda *_: torn_down.append("nodes") or PlaybookResult(),
    )
    with pytest.raises(NodeError, match=r"^tor: it is gone$"):
        command.teardown(str(path))
    assert torn_down == ["nodes"]
