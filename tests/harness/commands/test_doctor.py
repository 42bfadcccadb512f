import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers.command_line import rogue
from helpers.experiments import write_experiment
from helpers.fake_command_lines import FakeEos
from helpers.fake_switch import LOGIN, served_switch
from helpers.nodes import host_facts, rack_of, read_inventory, switch_facts, use_inventory, write_inventory

from rogue.harness.cli import app, run_guarded
from rogue.harness.commands import doctor as command
from rogue.harness.commands.options import NamedCells, requested_cells
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.provisioning import rdma_transfers
from rogue.harness.provisioning.clocks import ClockOffset
from rogue.harness.provisioning.findings import Examination, Finding
from rogue.harness.provisioning.named_inventory import NamedInventory
from rogue.remote.errors import NodeError

FOLLOWS = {"switch_follows_experiments": True}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_inventory(tmp_path_factory.mktemp("nodes"))


def examined(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    monkeypatch.setattr("rogue.harness.provisioning.inventory.load_inventory", read_inventory)
    facts = {
        "h0": host_facts("10.9.0.10", "h1"),
        "h1": {**host_facts("10.9.0.11", "h0"), **changes},
        "fabric": switch_facts(),
    }
    found = Examination(facts, {}, {"h0": ClockOffset(0.0123, 0.004)})
    monkeypatch.setattr("rogue.harness.provisioning.doctor.look", lambda *_: found)
    monkeypatch.setattr(
        "rogue.harness.provisioning.provision.deployed_files", lambda: {"/opt/rogue/dool": "aa" * 32}
    )


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


def test_warning_is_printed_without_refusal(
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
    monkeypatch.setattr("rogue.harness.provisioning.doctor.switch_findings", lambda _inventory: [finding])
    assert command.examine_nodes(NamedInventory(str(path)), None) is ExitCode.TESTBED
    assert "refused: tor: interface Ethernet1: got nothing, expected" in capsys.readouterr().out


def test_hardware_switches_are_compared_with_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The switch has no settings and reports no buffer; K is 98 670 bytes."""
    examined(monkeypatch)
    asked = NamedCells(write_experiment(tmp_path), ("transports=[dctcp]",))
    with served_switch(tmp_path / "tor", FakeEos()) as served:
        rack = rack_of("eos", served.login, **FOLLOWS)
        use_inventory(monkeypatch, rack)
        monkeypatch.setattr("rogue.harness.provisioning.findings.judge", lambda *_: [])
        monkeypatch.setattr("rogue.harness.provisioning.doctor.measure", lambda *_: [])
        assert command.examine_nodes(NamedInventory("rack.yaml"), None, asked) is ExitCode.TESTBED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("node  system"), "the nodes come first"
    assert lines[-3] == "of tor there is no comparison of buffer, delays, alpha of the buffer"
    assert lines[-2].startswith(
        "refused: tor: the experiment asks for a switch that marks beyond 98670 bytes in priority 3, and as "
        "read back tor marks nothing at Ethernet1, Ethernet2, Ethernet3, Ethernet4: run `rogue switch apply`"
    )
    assert lines[-1] == "measuring is refused; findings that refuse: 1"


def test_a_switch_that_does_not_reply_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(_each: object) -> None:
        raise NodeError("tor: gone")

    examined(monkeypatch)
    use_inventory(monkeypatch, rack_of("eos", LOGIN, **FOLLOWS))
    monkeypatch.setattr("rogue.harness.provisioning.findings.judge", lambda *_: [])
    monkeypatch.setattr("rogue.harness.provisioning.doctor.measure", lambda *_: [])
    monkeypatch.setattr(command, "compared_switch", gone)
    asked = NamedCells(write_experiment(tmp_path), ("transports=[dctcp]",))
    assert command.examine_nodes(NamedInventory("rack.yaml"), None, asked) is ExitCode.TESTBED
    assert "refused: tor: gone" in capsys.readouterr().out.splitlines()


def test_packets_that_do_not_fit_the_hosts_network_refuse(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examined(monkeypatch)
    monkeypatch.setattr("rogue.harness.provisioning.doctor.measure", lambda *_: [])
    asked = NamedCells(write_experiment(tmp_path), ("topology.mtu=2048",))
    assert command.examine_nodes(NamedInventory(str(path)), None, asked) is ExitCode.OK
    small = write_inventory(tmp_path, ("experiment_mtu: 4300", "experiment_mtu: 1500"))
    monkeypatch.setattr("rogue.harness.provisioning.findings.judge", lambda *_: [])
    assert command.examine_nodes(NamedInventory(str(small)), None, asked) is ExitCode.TESTBED
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].startswith(
        "refused: packets of 2048 bytes (topology.mtu) need an MTU of 2144 bytes, and the"
    )
    assert lines[-1] == "measuring is refused; findings that refuse: 1"


def test_testbed_that_is_down_is_an_error(tmp_path: Path) -> None:
    done = rogue(tmp_path, "doctor", "virtual:nobody", XDG_STATE_HOME=str(tmp_path))
    assert done.code == 7
    assert "rogue testbed up" in done.err


@pytest.mark.parametrize(("settings", "cell", "got"), [(["seed=2"], None, "--set"), (None, "a-r1", "--cell")])
def test_options_of_an_experiment_need_one(settings: list[str] | None, cell: str | None, got: str) -> None:
    with pytest.raises(UsageError) as told:
        requested_cells("doctor", "", settings, cell)
    expected = "expected both; name one after the inventory."
    assert str(told.value) == f"doctor: got {got} without an experiment, {expected}"


Capture = pytest.CaptureFixture[str]


def typed(*words: str) -> int:
    return int(run_guarded(lambda: app(["doctor", *words], prog_name="rogue", standalone_mode=False)))


def test_pipe_is_refused_without_waiting(tmp_path: Path, capsys: Capture) -> None:
    os.mkfifo(tmp_path / "nodes.yaml")
    assert typed(str(tmp_path / "nodes.yaml")) == 2
    assert f"got {tmp_path / 'nodes.yaml'}, expected a file" in capsys.readouterr().err


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Two hosts with cards, of which perftest and ethtool fail; who was logged in to."""
    logins: list[object] = []

    class Connection:
        def run(self, command: str, *, limit_s: float = 0.0) -> str:
            if "ethtool" in command or "ib_write_bw" in command:
                raise NodeError("h0: it failed: not found")
            where = {"device": "mlx5_0", "port": 1, "gid_index": 3, "netdev": "enp1s0"}
            return json.dumps({"card": {"hca_type": "MT4119", "uc": {"reason": "none"}}, "where": where})

        def open_session(self, command: str, *, limit_s: float = 0.0) -> "Connection":
            return self

        def close(self) -> None: ...

    @contextmanager
    def opened(login: object) -> Iterator[Any]:
        logins.append(login)
        yield Connection()

    use_inventory(monkeypatch, rack_of("declared"))
    monkeypatch.setattr(rdma_transfers.collect_cards, "__defaults__", (opened,))
    return logins


def test_reports_of_two_cards_are_kept_in_a_new_file(
    tmp_path: Path, asked: list[object], capsys: Capture
) -> None:
    file = tmp_path / "cards.json"
    assert typed("nodes.yaml", "--card", str(file)) == 0
    assert len(asked) == 2
    assert capsys.readouterr().out == f"reports of two cards, without names and addresses: {file}\n"
    assert len(json.loads(file.read_text())["cards"]) == 2
    assert typed("nodes.yaml", "--card", str(file)) == 2


@pytest.mark.parametrize("place", ["nodes.yaml", ".", "nowhere/cards.json", "link.json"])
def test_another_place_is_refused_before_cards_are_queried(
    tmp_path: Path, asked: list[object], capsys: Capture, place: str
) -> None:
    (tmp_path / "nodes.yaml").write_text("hosts: {}\n")
    (tmp_path / "link.json").symlink_to(tmp_path / "nodes.yaml")
    assert typed("nodes.yaml", "--card", str(tmp_path / place)) == 2
    assert f"--card: got {tmp_path / place}, expected a new file" in capsys.readouterr().err
    assert (asked, (tmp_path / "nodes.yaml").read_text()) == ([], "hosts: {}\n")


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["dctcp.yaml"], "EXPERIMENT"),
        (["--cell", "a"], "--cell"),
        (["--set", "seed=1"], "--set"),
        (["dctcp.yaml", "--log", "out.log"], "EXPERIMENT, --log"),
    ],
)
def test_options_without_effect_on_cards_are_refused(
    tmp_path: Path, asked: list[object], capsys: Capture, words: list[str], given: str
) -> None:
    file = tmp_path / "cards.json"
    assert typed("nodes.yaml", *words, "--card", str(file)) == 2
    assert f"got {given} with --card, expected an inventory alone; " in capsys.readouterr().err
    assert asked == []
    assert not file.exists()
