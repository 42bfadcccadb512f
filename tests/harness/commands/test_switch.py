"""Tests: plan, apply, check and undo the configuration of hardware switches."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import write_experiment
from helpers.fake_agents import fake_inventory
from helpers.fake_command_lines import FakeEos
from helpers.fake_switch import LOGIN, LOSSLESS, hardware, served_switch, wanted
from helpers.nodes import rack_of, use_inventory

from rogue.harness.commands import switch as command
from rogue.harness.commands.options import NamedCells
from rogue.harness.commands.switch import requested_switch
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.provisioning.named_inventory import NamedInventory
from rogue.harness.provisioning.switches import operations
from rogue.harness.provisioning.switches.operations import OpenSwitch
from rogue.harness.provisioning.switches.settings import HardwareSwitch
from rogue.remote.errors import NodeError

GOLDEN = Path(__file__).parent / "switch_plans"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEos]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    eos = FakeEos()
    with served_switch(tmp_path / "tor", eos) as served:
        switches = (
            hardware(wanted("eos", ("Ethernet1",)), served.login),
            hardware(wanted("declared"), None),
        )
        inventory = replace(fake_inventory(), switch=None, hardware_switches=switches)
        use_inventory(monkeypatch, inventory)
        yield eos


def test_from_a_plan_to_undone(switch: FakeEos, capsys: Capture) -> None:
    assert command.plan("rack.yaml") is ExitCode.OK
    planned = capsys.readouterr().out
    assert planned.splitlines()[0] == "tor (eos) would receive:"
    assert "  priority-flow-control priority 3 no-drop" in planned.splitlines()
    assert command.apply("rack.yaml", is_dry=True) is ExitCode.OK
    assert capsys.readouterr().out == planned
    assert command.apply("rack.yaml") is ExitCode.OK
    assert capsys.readouterr().out == planned.replace("would receive", "received")
    assert command.check("rack.yaml") is ExitCode.OK
    told = (
        "tor (eos) is as requested: priority 3: marks from 150000 to 1500000 bytes, then with 0.1, pauses\n"
    )
    assert capsys.readouterr().out == told
    assert command.plan("rack.yaml") is ExitCode.OK
    assert capsys.readouterr().out == "tor (eos) is already as requested\n"
    assert command.apply("rack.yaml") is ExitCode.OK
    assert capsys.readouterr().out == "tor (eos) was already as requested\n"
    assert command.undo("rack.yaml") is ExitCode.OK
    assert "  no qos trust dscp" in capsys.readouterr().out.splitlines()
    assert command.undo("rack.yaml") is ExitCode.OK
    assert capsys.readouterr().out == "tor (eos) has nothing to undo\n"


def test_a_difference_fails_in_a_sentence(switch: FakeEos) -> None:
    with pytest.raises(NodeError, match=r"^tor: interface Ethernet1: got nothing, expected `qos trust dscp`"):
        command.check("rack.yaml")


def test_one_switch_that_fails_keeps_no_other_from_being_undone(
    switch: FakeEos, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The same switch twice, and the first time its session does not open."""
    (one,) = command.hardware_of(command.open_inventory(NamedInventory("rack.yaml")))
    monkeypatch.setattr(command, "hardware_of", lambda _inventory: [one, one])
    command.set_up(one)
    opens, calls = operations.open_switch, []

    def fails_at_first(asked: HardwareSwitch) -> AbstractContextManager[OpenSwitch]:
        calls.append(asked)
        if len(calls) == 1:
            raise NodeError("tor: gone")
        return opens(asked)

    monkeypatch.setattr("rogue.harness.provisioning.switches.operations.open_switch", fails_at_first)
    capsys.readouterr()
    with pytest.raises(NodeError, match=r"^tor: gone$"):
        command.undo("rack.yaml")
    assert capsys.readouterr().out.startswith("tor (eos) received:")


def test_offline_plan_does_not_log_in(switch: FakeEos, capsys: Capture) -> None:
    assert command.plan("rack.yaml", is_offline=True) is ExitCode.OK
    assert (switch.heard, "  commit" in capsys.readouterr().out) == ([], True)


@pytest.mark.parametrize("platform", ["eos", "sonic"])
def test_a_plan_for_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, platform: str
) -> None:
    """K of 98 670 bytes at 10 Gb/s; what the inventory says of the priority gives way."""
    rack = rack_of(platform, LOGIN, switch_priorities={"3": {**LOSSLESS["3"]}})
    use_inventory(monkeypatch, rack)
    asked = {"settings": ["transports=[dctcp, roce]"], "cell": "dctcp-r1"}
    code = command.plan("rack.yaml", write_experiment(tmp_path), is_offline=True, **asked)
    assert code is ExitCode.OK
    assert capsys.readouterr().out == (GOLDEN / f"{platform}-dctcp.txt").read_text()


def test_a_plan_for_cells_that_ask_different_things_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    use_inventory(monkeypatch, rack_of("eos", LOGIN))
    both = ["transports=[dctcp, roce]"]
    with pytest.raises(UsageError, match="cells with different requests to tor, by transports: "):
        command.plan("rack.yaml", write_experiment(tmp_path), is_offline=True, settings=both)
    assert capsys.readouterr().out == ""


def test_a_switch_that_follows_experiments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    eos, file = FakeEos(), write_experiment(tmp_path)
    dctcp, roce = (("rack.yaml", file, None, [f"transports=[{name}]"]) for name in ("dctcp", "roce"))
    with served_switch(tmp_path / "tor", eos) as served:
        rack = rack_of("eos", served.login, switch_follows_experiments=True, switch_may_differ=["mtu"])
        use_inventory(monkeypatch, rack)
        assert command.apply(*dctcp) is ExitCode.OK
        assert "minimum-threshold 98670 bytes" in capsys.readouterr().out
        eos.interfaces["Ethernet1"]["mtu"] = 1499
        assert command.check(*dctcp) is ExitCode.OK
        assert capsys.readouterr().out.splitlines() == [
            "the experiment asks for packets of 1500 bytes, and as read back tor takes 1499 bytes at "
            "Ethernet1, which is allowed",
            "of tor there is no comparison of buffer, delays, alpha of the buffer",
            "tor (eos) is as requested: priority 3: marks beyond 98670 bytes",
        ]
        with pytest.raises(
            NodeError, match="the experiment asks for a switch that marks nothing in priority 3"
        ):
            command.check(*roce)
        assert command.undo("rack.yaml") is ExitCode.OK
        capsys.readouterr()
        with pytest.raises(NodeError, match="and as read back tor marks nothing at Ethernet1, Ethernet2"):
            command.check(*dctcp)


@pytest.mark.parametrize("verb", [command.apply, command.check])
def test_it_needs_an_experiment(verb: Callable[[str], ExitCode], monkeypatch: pytest.MonkeyPatch) -> None:
    rack = rack_of("eos", LOGIN, switch_follows_experiments=True)
    use_inventory(monkeypatch, rack)
    with pytest.raises(UsageError) as told:
        verb("rack.yaml")
    assert str(told.value) == (
        "tor: got no experiment, expected one, because it has switch_follows_experiments; name it after the "
        "inventory."
    )


def test_switch_with_stated_settings_is_not_set_for_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_inventory(monkeypatch, rack_of("eos", LOGIN))
    with pytest.raises(UsageError) as told:
        command.apply("rack.yaml", write_experiment(tmp_path), None, ["transports=[dctcp]"])
    assert str(told.value) == (
        "tor: got an experiment, expected none, because the inventory has its marking and pausing; leave the "
        "experiment out, or write switch_follows_experiments: true and dscp alone."
    )


def test_without_a_switch_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    use_inventory(monkeypatch, fake_inventory())
    with pytest.raises(UsageError, match="got no hardware switch to log in to"):
        command.check("rack.yaml")


FACTORS = "factors={topology.rate: [10Gbps, 25Gbps]}"
BUFFERS = "factors={topology.buffer: [3MB, 9MB], workload.senders: [1, 2]}"


def told(directory: Path, *settings: str, cell: str | None = None) -> str:
    """Return the request to the switch, or why it is refused."""
    rack = rack_of("eos")
    try:
        cells = NamedCells(write_experiment(directory), settings, cell).load(())
        return str(requested_switch(cells, rack, rack.hardware_switches[0]).switch.variables)
    except UsageError as error:
        return str(error)


def test_cells_that_ask_the_same_have_one_network(tmp_path: Path) -> None:
    assert told(tmp_path, "transports=[dctcp]", "repetitions=3") == "priority 3: marks beyond 98670 bytes"
    assert told(tmp_path, "factors={workload.senders: [1, 2]}") == "priority 3: nothing"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            ("transports=[roce, dctcp]",),
            "small: got cells with different requests to tor, by transports: roce-r1 requests priority "
            "3: nothing, and dctcp-r1 priority 3: marks beyond 98670 bytes; expected one network: name a "
            "cell with --cell, or take the others away with --set.",
        ),
        (
            ("transports=[dctcp]", FACTORS),
            "small: got cells with different requests to tor, by topology.rate: dctcp-rate10Gbps-r1 requests "
            "priority 3: marks beyond 98670 bytes; 10 Gb/s at Ethernet1, Ethernet2, Ethernet3, "
            "Ethernet4, and dctcp-rate25Gbps-r1 priority 3: marks beyond 75000 bytes; 25 Gb/s at "
            "Ethernet1, Ethernet2, Ethernet3, Ethernet4; expected one network: name a cell with --cell, or "
            "take the others away with --set.",
        ),
        (
            ("transports=[roce]", BUFFERS),
            "small: got cells with different requests to tor, by topology.buffer: "
            "roce-buffer3MB-senders1-r1 requests a buffer of 3000000 bytes, of which a port may hold 1 times "
            "what is free, and roce-buffer9MB-senders1-r1 a buffer of 9000000 bytes, of which a port may "
            "hold 1 times what is free; expected one network: name a cell with --cell, or take the others "
            "away with --set.",
        ),
        (
            ("transports=[{name: dctcp, mark_above: 2TB}]",),
            "small: dctcp_mark_above=2TB-r1: mark_above: expected from 0 to 1000000000000 bytes; correct the "
            "value.",
        ),
    ],
)
def test_others_are_refused_with_the_keys_that_differ(
    tmp_path: Path, settings: tuple[str, ...], words: str
) -> None:
    assert told(tmp_path, *settings) == words


def test_keys_that_make_a_difference_together_are_all_named(tmp_path: Path) -> None:
    words = told(tmp_path, "transports=[roce, dctcp]", FACTORS)
    assert " by topology.rate and transports: " in words


def test_one_cell_can_be_named(tmp_path: Path) -> None:
    both = "transports=[roce, dctcp]"
    assert told(tmp_path, both, cell="dctcp-r1") == "priority 3: marks beyond 98670 bytes"
    missing = told(tmp_path, both, "repetitions=4", cell="x")
    assert missing.startswith(
        "--cell: got x, expected one of roce-r1, dctcp-r1, roce-r2, dctcp-r2 and 4 more;"
    )


def test_only_transports_of_nodes_count(tmp_path: Path) -> None:
    assert told(tmp_path, "transports=[irn, dctcp]") == "priority 3: marks beyond 98670 bytes"
    refusal = told(tmp_path, "transports=[irn]")
    assert ": got irn, expected a transport that nodes can run; " in refusal
    assert refusal.endswith("; `rogue list transports` names the testbeds of each.")
