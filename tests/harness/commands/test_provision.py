import os
import signal
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest
from helpers.command_line import rogue, start_rogue
from helpers.fake_switch import LOGIN, hardware, wanted
from helpers.nodes import read_inventory, use_inventory, write_inventory

from rogue.harness.commands import provision as command
from rogue.harness.errors import ExitCode, StoppedError, UsageError
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.provisioning.playbook import Interrupted, PlaybookResult
from rogue.harness.provisioning.provision import REACH_LIMIT_S
from rogue.remote.errors import NodeError


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_inventory(tmp_path_factory.mktemp("nodes"))


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rogue.harness.provisioning.inventory.load_inventory", read_inventory)


FOLLOWS = wanted("eos", switch_follows_experiments=True, switch_priorities={"3": {"dscp": [26]}})
STAR = """\
name: star
topology: {kind: star, hosts: 2, rate: 100Mbps}
workload: {kind: incast, senders: 1, size: 1MB, verb: write}
transports: [rogue]
"""


class Provisioner:
    """Stands in for the playbook."""

    def __init__(self) -> None:
        self.ports: Mapping[str, PortSettings] = {}
        self.played = PlaybookResult(changes={"h0": ["mtu eth1", "soft_roce eth1"]}, tasks_done=3)
        self.is_interrupted = False

    def provision(
        self, _inventory: object, ports: Mapping[str, PortSettings], *_: object, is_check: bool
    ) -> PlaybookResult:
        self.ports = ports
        if self.is_interrupted:
            raise Interrupted(self.played)
        return self.played


@pytest.mark.parametrize(("is_check", "comes_up"), [(False, True), (True, False)])
def test_default_inventory_starts_machines_and_prints_how_to_end_them(
    path: Path,
    provisioner: "Provisioner",
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_check: bool,
    comes_up: bool,
) -> None:
    called: list[str] = []
    monkeypatch.setattr(command, "bring_up_default", lambda: called.append("up") or True)
    monkeypatch.setattr(command, "open_inventory", lambda _named: read_inventory(path))
    assert command.provision("virtual", is_check=is_check) is ExitCode.OK
    assert (called == ["up"]) is comes_up
    assert ("to end them: " in capsys.readouterr().out) is comes_up
    called.clear()
    command.provision("virtual:second")
    assert called == [], "another testbed is brought up by its own command"


@pytest.fixture
def provisioner(monkeypatch: pytest.MonkeyPatch) -> Provisioner:
    fake = Provisioner()
    monkeypatch.setattr("rogue.harness.provisioning.provision.provision", fake.provision)
    return fake


def test_number_of_changes_is_printed(
    path: Path, provisioner: Provisioner, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.provision(str(path)) is ExitCode.OK
    assert capsys.readouterr().out == "changed: 2, on 1 of 3 nodes\n"
    assert provisioner.ports == {}


def test_check_prints_what_would_change(
    path: Path, provisioner: Provisioner, capsys: pytest.CaptureFixture[str]
) -> None:
    command.provision(str(path), is_check=True)
    assert capsys.readouterr().out.splitlines() == [
        "would be changed: 2, on 1 of 3 nodes",
        "  h0: mtu eth1",
        "  h0: soft_roce eth1",
    ]


def test_drivers_of_cards_are_printed(
    path: Path, provisioner: Provisioner, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "drivers of eth1: the distribution's, as ofed_version is not set"
    for host in ("h0", "h1"):
        data = {"host": host, "task": "Say which drivers", "task_action": "ansible.builtin.debug"}
        provisioner.played.add({"event": "runner_on_ok", "event_data": {**data, "res": {"msg": words}}})
    command.provision(str(path))
    assert capsys.readouterr().out.splitlines() == ["changed: 2, on 1 of 3 nodes", f"  h0, h1: {words}"]


def test_an_experiment_gives_the_switch_its_rates(
    path: Path, tmp_path: Path, provisioner: Provisioner
) -> None:
    (tmp_path / "star.yaml").write_text(STAR)
    command.provision(str(path), experiment=str(tmp_path / "star.yaml"))
    assert {port: settings.rate_bps for port, settings in provisioner.ports.items()} == {
        "s0->h0": 100_000_000,
        "s0->h1": 100_000_000,
    }


def test_ctrl_c_prints_how_to_continue_and_how_to_undo(path: Path, provisioner: Provisioner) -> None:
    provisioner.is_interrupted = True
    with pytest.raises(
        StoppedError, match=r"stopped in task 3; to continue: .* provision .*; to put .* teardown "
    ) as stop:
        command.provision(str(path))
    assert stop.value.exit_code is ExitCode.INTERRUPTED


@pytest.mark.usefixtures("provisioner")
def test_ports_of_an_experiment_need_a_switch(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "rogue.harness.provisioning.inventory.load_inventory",
        lambda given, is_trusted: replace(read_inventory(given), switch=None),
    )
    (tmp_path / "star.yaml").write_text(STAR)
    with pytest.raises(UsageError, match="got no switch, expected one whose ports an experiment can set"):
        command.provision(str(path), experiment=str(tmp_path / "star.yaml"))


@pytest.mark.parametrize(("is_check", "done"), [(False, ["set up tor"]), (True, ["planned tor"])])
def test_hardware_switches_are_set_up_too(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, is_check: bool, done: list[str]
) -> None:
    rack = replace(read_inventory(path), switch=None, hardware_switches=(hardware(wanted("eos"), LOGIN),))
    seen: list[str] = []
    use_inventory(monkeypatch, rack)
    monkeypatch.setattr("rogue.harness.provisioning.provision.provision", Provisioner().provision)
    monkeypatch.setattr(command, "set_up", lambda switch: seen.append(f"set up {switch.name}"))
    monkeypatch.setattr(command, "show_plan", lambda switch: seen.append(f"planned {switch.name}"))
    assert command.provision(str(path), is_check=is_check) is ExitCode.OK
    assert seen == done


@pytest.mark.parametrize("is_check", [False, True])
def test_switch_that_follows_experiments_is_not_set(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, is_check: bool
) -> None:
    rack = replace(read_inventory(path), switch=None, hardware_switches=(hardware(FOLLOWS, LOGIN),))
    use_inventory(monkeypatch, rack)
    monkeypatch.setattr("rogue.harness.provisioning.provision.provision", Provisioner().provision)
    assert command.provision("rack.yaml", is_check=is_check) is ExitCode.OK
    told = "tor follows experiments: rogue switch apply rack.yaml EXPERIMENT"
    assert capsys.readouterr().out.splitlines()[-1] == told


PATIENCE_S = 60


@pytest.mark.parametrize("command", ["provision", "doctor", "teardown"])
def test_a_missing_inventory_is_a_wrong_command_and_a_sentence(tmp_path: Path, command: str) -> None:
    done = rogue(tmp_path, command, "nowhere.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("rogue: inventory: got nowhere.yaml, expected a file")


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
    assert "rogue: stopped before the first task; to continue: " in err
    assert not log.exists(), "Ansible went nowhere"


def test_number_of_restored_changes_is_printed(
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
    with pytest.raises(StoppedError, match="the nodes keep what is left to restore"):
        command.teardown(str(path))


def test_failure_of_a_hardware_switch_does_not_stop_teardown(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rack = replace(read_inventory(path), switch=None, hardware_switches=(hardware(wanted("eos"), LOGIN),))
    torn_down = []

    def gone(_switch: object) -> None:
        raise NodeError("tor: it is gone")

    use_inventory(monkeypatch, rack)
    monkeypatch.setattr(command, "put_back", gone)
    monkeypatch.setattr(
        "rogue.harness.provisioning.provision.teardown",
        lambda *_: torn_down.append("nodes") or PlaybookResult(),
    )
    with pytest.raises(NodeError, match=r"^tor: it is gone$"):
        command.teardown(str(path))
    assert torn_down == ["nodes"]
