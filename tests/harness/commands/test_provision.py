import os
import signal
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest
from helpers.command_line import rogue, start_rogue
from helpers.fake_switch import LOGIN, hardware, wanted
from helpers.first_rack import HOSTS, FirstRack, first_rack
from helpers.nodes import read_inventory, write_inventory

from rogue.harness.cli import app, run_guarded
from rogue.harness.commands import provision as command
from rogue.harness.errors import ExitCode, StoppedError, UsageError
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.provisioning.playbook import Interrupted, PlaybookResult
from rogue.harness.provisioning.reach import REACH_LIMIT_S
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
    monkeypatch.setattr("rogue.harness.provisioning.inventory.load_inventory", lambda _path, is_trusted: rack)
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
    monkeypatch.setattr("rogue.harness.provisioning.inventory.load_inventory", lambda _path, is_trusted: rack)
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

    monkeypatch.setattr("rogue.harness.provisioning.inventory.load_inventory", lambda _path, is_trusted: rack)
    monkeypatch.setattr(command, "put_back", gone)
    monkeypatch.setattr(
        "rogue.harness.provisioning.provision.teardown",
        lambda *_: torn_down.append("nodes") or PlaybookResult(),
    )
    with pytest.raises(NodeError, match=r"^tor: it is gone$"):
        command.teardown(str(path))
    assert torn_down == ["nodes"]


Capture = pytest.CaptureFixture[str]
ALL = ", ".join(HOSTS)


@pytest.fixture
def rack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FirstRack]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with first_rack(tmp_path, monkeypatch) as found:
        yield found


class Person:
    """Types commands, and reads what is said to them: sentences, and never a traceback."""

    def __init__(self, rack: FirstRack, capture: Capture) -> None:
        self._rack, self._capture = rack, capture

    def types(self, words: str, code: int = 0) -> list[str]:
        """The lines of what is said, on standard output or, if the command is refused, of both."""
        arguments = words.replace("nodes.yaml", str(self._rack.inventory)).split()
        ended = run_guarded(lambda: app(arguments, prog_name="rogue", standalone_mode=False))
        out, err = self._capture.readouterr()
        assert "Traceback" not in err, err
        assert int(ended) == code, f"{words}: {out}{err}"
        return [line.removeprefix("rogue: ") for line in f"{out}{err if code else ''}".splitlines()]


@pytest.mark.needs("sshd")
def test_from_an_inventory_to_nodes_that_can_measure(rack: FirstRack, capsys: Capture) -> None:
    person = Person(rack, capsys)
    _reads_what_is_wrong_in_the_inventory(person, rack)
    _learns_the_keys(person, rack)
    _sets_the_switches(person, rack)
    _provisions_and_measures(person, rack)
    _puts_the_switches_back(person, rack)
    assert rack.refused_connections() == 0, "the bastion has taken everybody"


def _reads_what_is_wrong_in_the_inventory(person: Person, rack: FirstRack) -> None:
    """A bond for all hosts is one mistake, though it is twelve hosts'."""
    right = rack.inventory.read_text()
    rack.inventory.write_text(right.replace("experiment_interface: eth1", "experiment_interface: bond0"))
    (told,) = person.types("inventory check nodes.yaml", 2)
    assert told.startswith(f"{rack.inventory}: experiment_interface of {ALL}: got bond0, a bond or a team, ")
    rack.inventory.write_text(right)
    listed = person.types("inventory check nodes.yaml")
    assert [line.split()[0] for line in listed[1:15]] == [*HOSTS, "leaf0", "leaf1"]


def _learns_the_keys(person: Person, rack: FirstRack) -> None:
    """No host key is known: that of the bastion comes first, and then one command for all behind it."""
    first = person.types("provision nodes.yaml --check", 7)
    assert first[0] == "provision: failed on 12 nodes"
    assert first[1].startswith(f"  {ALL}: before anything: ")
    rack.know_gate_only()
    second = person.types("provision nodes.yaml --check", 7)
    assert len(second) == 2, "one sentence for twelve nodes"
    assert "`ssh bastion ssh-keyscan -p " in second[1]
    both = person.types("switch check nodes.yaml", 7)
    assert [line.split(":")[0] for line in both] == ["leaf0", "leaf1"], "refusals are listed together"
    rack.know_all()


def _sets_the_switches(person: Person, rack: FirstRack) -> None:
    """The older leaf takes no new profile in a patch; the newer one is planned and set all the same."""
    planned = person.types("switch plan nodes.yaml", 7)
    assert planned[0] == "leaf1 (sonic) would receive:"
    assert planned[-1].startswith(
        "leaf0: got changes of WRED_PROFILE for release 202311, whose updater refuses "
    )
    assert "`sudo config load -y FILE`" in planned[-1]
    assert rack.leaves["leaf1"].patches == []
    rack.load_profile()
    told = person.types("switch apply nodes.yaml")
    assert [line for line in told if line.startswith("leaf")] == [
        "leaf0 (sonic) received:", "leaf1 (sonic) received:",
    ]  # fmt: skip
    assert [line.split(":")[0] for line in person.types("switch check nodes.yaml")] == [
        "leaf0 (sonic) is as requested", "leaf1 (sonic) is as requested",
    ]  # fmt: skip


def _provisions_and_measures(person: Person, rack: FirstRack) -> None:
    """The doctor refuses bare nodes, with a sentence for each thing and not for each node."""
    assert person.types("provision nodes.yaml --check") == [
        "would be changed: 12, on 12 of 12 nodes",
        f"  {ALL}: mtu eth1: 4200",
        "leaf0 (sonic) is already as requested",
        "leaf1 (sonic) is already as requested",
    ]
    examined = person.types("doctor nodes.yaml", 7)
    assert [line.split()[0] for line in examined[1:13]] == list(HOSTS)
    refused = [line for line in examined if line.startswith("refused: ")]
    assert all(line.startswith(f"refused: {ALL}: ") for line in refused)
    assert f"refused: {ALL}: state: got a node that is not provisioned, " in "\n".join(refused)
    rack.provision()
    examined = person.types("doctor nodes.yaml")
    assert examined[-1] == "12 nodes can measure"
    assert (
        "warning: hosts: card: got ConnectX-5, 100 Gb/s on h0, h1, h2, h3; ConnectX-6 Dx, 100 Gb/s on h4, "
        "h5, h6, h7; BlueField-2, 100 Gb/s on h8, h9, h10, h11, expected the same everywhere; install the "
        "same on all, or take the difference into account."
    ) in examined


def _puts_the_switches_back(person: Person, rack: FirstRack) -> None:
    before = FirstRack.default_tables()
    undone = person.types("switch undo nodes.yaml")
    assert sum(line.endswith("received:") for line in undone) == 2
    assert rack.leaves["leaf1"].tables == before
    assert rack.leaves["leaf0"].tables == {**before, "WRED_PROFILE": rack.requested_profile}
    missing = person.types("switch check nodes.yaml", 7)
    assert len(missing) < 20, "places alike are one sentence"
    assert "leaf1: QUEUE: Ethernet0|3, Ethernet4|3, " in "\n".join(missing)
