"""`rogue testbed`, with programs in the place of QEMU."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.pretended_machines import pretend

from rogue.harness.commands import testbed
from rogue.harness.commands.testbed import requested_network
from rogue.harness.errors import ExitCode, StoppedError, UsageError
from rogue.harness.provisioning.named_inventory import inventory_file_of
from rogue.remote.errors import NodeError
from rogue.virtual import persistent, prerequisites
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.persistent import lifecycle, processes


@pytest.fixture
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of testbeds, all of which end with the test."""
    image = pretend(monkeypatch, tmp_path)
    monkeypatch.setattr(prerequisites, "ensure", lambda _needs, _progress: None)
    monkeypatch.setattr("rogue.virtual.image.build.obtain", lambda cache, tell: image)
    monkeypatch.setattr("rogue.virtual.machines.assembly.choose", lambda image, cache, tell: Accelerator.TCG)
    yield tmp_path
    for name in persistent.names():
        persistent.down(name, lambda text: None)


@pytest.mark.parametrize(
    ("kind", "hosts", "expected_hosts", "switches"),
    [("", None, 4, 1), ("star", 3, 3, 1), ("dumbbell", 6, 6, 2), ("parking_lot", None, 6, 3)],
)
def test_a_kind_of_topology_becomes_a_network(
    kind: str, hosts: int | None, expected_hosts: int, switches: int
) -> None:
    network = requested_network("", kind, hosts)
    assert network.hosts == tuple(f"h{index}" for index in range(expected_hosts))
    assert network.switches == tuple(f"s{index}" for index in range(switches))
    assert len(network.trunks) == switches - 1


def test_an_experiments_topology_becomes_a_network(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(
        "name: small\ntopology: {kind: dumbbell, hosts_per_side: 1, rate: 100Mbps, bottleneck_rate: 50Mbps}\n"
        "workload: {kind: incast, senders: 1, size: 1MB}\ntransports: [rogue]\n"
    )
    network = requested_network(str(tmp_path / "small.yaml"), "", None)
    assert network.cables == (("h0", "s0"), ("h1", "s1"), ("s0", "s1"))


@pytest.mark.parametrize(
    ("experiment", "kind", "hosts", "words"),
    [
        ("", "triangle", None, "--topology: got 'triangle', expected one of star, "),
        ("", "links", None, "--topology: got links, expected one that needs no file"),
        ("", "ring", None, "got a loop through the cable s4-s0, expected one path between any two nodes"),
        ("", "dumbbell", 5, r"--hosts: got 5, .* a dumbbell can have \(it would have 6\)"),
        ("", "parking_lot", 4, "--hosts: got 4, .*it would have 6"),
        ("", "star", 1, "--hosts: got 1, .*greater than or equal to 2"),
        ("", "star", 25, "got 25 hosts, expected 1 to 24"),
        ("x.yaml", "star", None, "an experiment and --topology or --hosts"),
    ],
)
def test_impossible_networks_are_errors(experiment: str, kind: str, hosts: int | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        requested_network(experiment, kind, hosts)


def test_up_prints_the_inventory_and_virtual_names_it(
    state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert testbed.up("", "star", 2) is ExitCode.OK
    file = state_home / "rogue/testbeds/default/inventory.yaml"
    out, err = capsys.readouterr()
    assert out == f"{file}\n"
    assert "to use it: " in err
    assert err.rstrip().endswith("provision virtual")
    assert inventory_file_of("virtual") == inventory_file_of("virtual:default") == file


def test_the_default_testbed_is_brought_up_once_with_progress(
    state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert testbed.bring_up_default()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("testbed default is not up: starting 4 virtual machines and a switch\n")
    assert "  5 of 5: h3" in err
    assert not testbed.bring_up_default()
    assert len(persistent.find("default").network.hosts) == 4


def test_an_inventory_of_a_testbed_that_is_not_up(state_home: Path) -> None:
    with pytest.raises(NodeError, match="testbed second is not up; `rogue testbed up --name second`"):
        inventory_file_of("virtual:second")


def test_status_without_testbeds(state_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert testbed.status("") is ExitCode.TESTBED
    assert capsys.readouterr().out == "no testbed is up\n"


def state_of(machine: str, *, is_well: bool) -> persistent.MachineState:
    if is_well:
        return persistent.MachineState(machine, 4711, 300 * 2**20, "", 61.4, 200 * 2**20)
    return persistent.MachineState(machine, None, 0, "it has no power", None, None)


@pytest.mark.parametrize(("is_well", "code"), [(True, ExitCode.OK), (False, ExitCode.TESTBED)])
def test_status_shows_every_machine(
    state_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_well: bool,
    code: ExitCode,
) -> None:
    testbed.up("", "star", 2)
    states = [state_of("fabric", is_well=True), state_of("h0", is_well=is_well)]
    monkeypatch.setattr(persistent, "machine_states", lambda of: states)
    capsys.readouterr()
    assert testbed.status("") is code
    first, _, fabric, host = capsys.readouterr().out.splitlines()
    assert first.startswith(f"testbed default: {2 if is_well else 1} of 2 machines reply; inventory /")
    assert fabric.split() == ["fabric", "4711", "yes", "61", "s", "300", "MiB", "200", "MiB"]
    assert ("no: it has no power" in host) is not is_well


def test_status_of_a_half_started_testbed(state_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (state_home / "rogue/testbeds/half").mkdir(parents=True)
    assert testbed.status("half") is ExitCode.TESTBED
    assert "testbed half is not up" in capsys.readouterr().out


def test_down_reports_whether_a_testbed_was_up(state_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    testbed.up("", "star", 2)
    assert testbed.down("default") is ExitCode.OK
    assert "testbed default: down; nothing is left of it" in capsys.readouterr().err
    assert testbed.down("default") is ExitCode.OK
    assert "testbed default: was not up" in capsys.readouterr().err


def test_ctrl_c_leaves_nothing(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lifecycle, "_wait_until_ready", interrupted)
    with pytest.raises(StoppedError, match="stopped; nothing of testbed default is left") as caught:
        testbed.up("", "star", 2)
    assert caught.value.exit_code is ExitCode.INTERRUPTED
    assert [each.name for each in (state_home / "rogue/testbeds").iterdir()] == [".lock"]
    assert processes.find(state_home / "rogue/testbeds/default") == {}


def test_a_machine_that_fails_is_the_testbeds_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state_home: Path
) -> None:
    pretend(monkeypatch, tmp_path, {"h0": "dies"})
    with pytest.raises(NodeError, match="machine h0 ended before it was up"):
        testbed.up("", "star", 2)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("up", "--topology", "torus"), ExitCode.USAGE, "rogue: --topology: got 'torus'"),
        (("up", "--topology", "ring"), ExitCode.USAGE, "network of virtual machines: got a loop"),
        (("up", "--hosts", "0"), ExitCode.USAGE, "rogue: Invalid value for '--hosts'"),
        (("up", "no-such-file.yaml"), ExitCode.USAGE, "no-such-file.yaml"),
        (("down", "--name", "../x"), ExitCode.TESTBED, "rogue: name of a testbed: got '../x'"),
        (("status",), ExitCode.TESTBED, ""),
        (("down",), ExitCode.OK, "testbed default: was not up"),
    ],
)
def test_what_a_person_reads(tmp_path: Path, arguments: tuple[str, ...], code: ExitCode, words: str) -> None:
    done = rogue(tmp_path, "testbed", *arguments, XDG_STATE_HOME=str(tmp_path))
    assert done.code == code, done.err
    assert words in done.err
