"""Tests: compare what a cell requests with what hardware switches report."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory
from helpers.fake_command_lines import FakeEos
from helpers.fake_switch import LOGIN, served_switch
from helpers.nodes import INTERFACES, rack_of

from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.switches.operations import plan_from_nothing
from rogue.harness.provisioning.switches.platform import load_platform
from rogue.harness.provisioning.switches.readback import (
    PortState,
    SwitchState,
    marking_reported,
    priority_reported,
)
from rogue.harness.testbeds.ssh import testbed
from rogue.harness.testbeds.ssh.switch_readback import (
    read_switch_states,
    refusal,
    switch_state_facts,
)
from rogue.harness.testbeds.ssh.switch_request import inventory_as_requested, requested_settings

DCTCP = "transports=[dctcp]"
FOLLOWS = {"switch_follows_experiments": True}
APPLY = "run `rogue switch apply` for it, or allow it by switch_may_differ: [marks]"


def states_with(cell: Cell, inventory: Inventory, **reported: Any) -> dict[str, SwitchState]:
    """Return the state of a switch with the requested settings, and its report on each port."""
    (tor,) = inventory.hardware_switches
    wanted = requested_settings(cell, inventory, tor)
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in load_platform(wanted.switch_platform).lines(wanted):
        found[line.context] = (*found.get(line.context, ()), line.text)
    port = PortState(**{"rate_bps": 10**10, "mtu_bytes": 9214, **reported})
    return {"tor": SwitchState(dict.fromkeys(wanted.interfaces, port), configuration=found)}


def test_requested_settings_are_compared_and_the_others_listed(tmp_path: Path) -> None:
    cell, rack = cell_of(tmp_path, DCTCP), rack_of("eos", LOGIN, **FOLLOWS)
    states = states_with(
        cell, rack, priorities={3: priority_reported(marks=marking_reported(98_670, 98_670, 100))}
    )
    assert refusal(cell, rack, states) is None
    sentence = "of tor there is no comparison of buffer, delays, alpha of the buffer"
    assert switch_state_facts(cell, rack, states) == {"switches_not_compared": sentence}


@pytest.mark.parametrize(
    ("reported", "kind", "words"),
    [
        (
            {"priorities": {3: priority_reported(marks=marking_reported(9, 9, 100))}},
            "marks",
            "the experiment asks for a switch that marks beyond 98670 bytes in priority 3, and as read back "
            "tor marks beyond 9 bytes at Ethernet1, Ethernet2, Ethernet3, Ethernet4: run `rogue switch "
            "apply` for it",
        ),
        (
            {"rate_bps": 25 * 10**9},
            "rate",
            "the experiment asks for 10 Gb/s, and as read back tor has 25 Gb/s at Ethernet1, Ethernet2, "
            "Ethernet3, Ethernet4: set the rate of the topology, or of the port",
        ),
        (
            {"mtu_bytes": 1000},
            "mtu",
            "the experiment asks for packets of 1500 bytes, and as read back tor takes 1000 bytes at "
            "Ethernet1, Ethernet2, Ethernet3, Ethernet4: raise it on the port",
        ),
    ],
)
def test_difference_refuses_the_cell_unless_it_is_allowed(
    tmp_path: Path, reported: Mapping[str, Any], kind: str, words: str
) -> None:
    cell = cell_of(tmp_path, DCTCP)
    right = {"priorities": {3: priority_reported(marks=marking_reported(98_670, 98_670, 100))}}
    rack, may = (rack_of("eos", LOGIN, **FOLLOWS, switch_may_differ=each) for each in ([], [kind]))
    states = states_with(cell, rack, **{**right, **reported})
    assert refusal(cell, rack, states) == f"{words}, or allow it by switch_may_differ: [{kind}]"
    assert refusal(cell, may, states) is None
    assert switch_state_facts(cell, may, states)["switches_differ"] == words.partition(": ")[0]


def test_difference_in_the_buffer_is_the_whole_switchs(tmp_path: Path) -> None:
    cell, rack = cell_of(tmp_path, "transports=[roce]"), rack_of("eos", LOGIN, **FOLLOWS)
    found = states_with(cell, rack, priorities={})
    sentence = refusal(cell, rack, {"tor": replace(found["tor"], buffer_bytes=12_000_000)})
    assert sentence == (
        "the experiment asks for a buffer of 9000000 bytes, and as read back tor has one of 12000000 bytes: "
        "set topology.buffer, or allow it by switch_may_differ: [buffer]"
    )


@pytest.mark.parametrize("settings", ["transports=[roce]", DCTCP])
def test_unknown_marks_refuse_the_cell_unless_they_may_differ(tmp_path: Path, settings: str) -> None:
    cell, rack = cell_of(tmp_path, settings), rack_of("eos", LOGIN, **FOLLOWS)
    lines = states_with(cell, rack)["tor"].configuration
    found = {**lines, ("interface Ethernet1",): ("service-profile P",)}
    (tor,) = rack.hardware_switches
    states = {"tor": load_platform("eos").state(found, "", tor.variables)}
    sentence = (
        "marks and pauses of tor are not known at Ethernet1, expected numbers: got `service-profile P, "
    )
    assert str(refusal(cell, rack, states)).startswith(sentence)
    may = rack_of("eos", LOGIN, **FOLLOWS, switch_may_differ=["marks", "pauses"])
    assert refusal(cell, may, states) is None
    assert sentence in switch_state_facts(cell, may, states)["switches_differ"]


@pytest.mark.parametrize("platform", ["eos", "comware"])
def test_without_numbers_lines_are_compared(tmp_path: Path, platform: str) -> None:
    """Of most platforms no numbers are read, and of all the map of DSCPs has none."""
    cell = cell_of(tmp_path, DCTCP)
    rack = rack_of(platform, LOGIN, **FOLLOWS)
    if platform == "comware":  # drops above, and counts in cells of 208 bytes
        cell = cell_of(tmp_path, "transports=[{name: roce+dcqcn, kmin: 150KB, kmax: 2MB, drops_above: 1}]")
    as_wanted = states_with(cell, rack)
    assert refusal(cell, rack, as_wanted) is None
    assert "marks and pauses in numbers" in switch_state_facts(cell, rack, as_wanted)["switches_not_compared"]
    sentence = str(refusal(cell, rack, {"tor": SwitchState()}))
    assert sentence.startswith("tor: ")
    assert sentence.endswith(f"got nothing, expected {sentence.partition('expected ')[2]}")
    assert APPLY in sentence
    may = rack_of(platform, LOGIN, **FOLLOWS, switch_may_differ=["marks"])
    assert refusal(cell, may, {"tor": SwitchState()}) is None


def test_setting_that_a_platform_lacks_is_refused(tmp_path: Path) -> None:
    rack = rack_of("onyx", LOGIN, **FOLLOWS)
    sentence = refusal(cell_of(tmp_path, DCTCP), rack, {"tor": SwitchState()})
    assert sentence is not None
    assert "got 98670 bytes, expected a multiple of 1000" in sentence


def test_switch_with_its_own_dscp_map_is_reported(tmp_path: Path) -> None:
    cell, rack = cell_of(tmp_path, "transports=[roce]"), rack_of("eos", LOGIN, switch_priorities={})
    assert refusal(cell, rack, {"tor": SwitchState()}) is None
    found = switch_state_facts(cell, rack, {"tor": SwitchState()})["switches_not_compared"]
    assert found.startswith(
        "of tor there is no comparison of marks and pauses, for no priority names the DSCP, "
    )


def test_pause_points_are_compared_where_they_are_stated(tmp_path: Path) -> None:
    rack = rack_of("eos", LOGIN, **FOLLOWS)
    cell = cell_of(tmp_path, "transports=[roce+pfc]")
    states = states_with(cell, rack, priorities={3: priority_reported(pauses=True)})
    assert refusal(cell, rack, states) is None
    assert "buffer, pause points, delays" in switch_state_facts(cell, rack, states)["switches_not_compared"]


def test_declared_switch_is_not_read(tmp_path: Path) -> None:
    cell, rack = cell_of(tmp_path, "transports=[roce]"), rack_of("declared")
    assert (read_switch_states(rack), refusal(cell, rack, {})) == ({}, None)
    sentence = "nothing of tor was read back: it has no login"
    assert switch_state_facts(cell, rack, {}) == {"switches_not_compared": sentence}
    linux = replace(rack, switch=fake_inventory().switch)
    assert (read_switch_states(linux), switch_state_facts(cell, linux, {})) == ({}, {})


def test_switch_is_read_once_for_all_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A following switch of Arista's that marks where DCTCP asks: its cell can run, and roce's cannot."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    cell, other = cell_of(tmp_path, DCTCP, "probe=null"), cell_of(tmp_path, "transports=[roce]", "probe=null")
    eos = FakeEos()
    with served_switch(tmp_path / "tor", eos) as served:
        rack = rack_of("eos", served.login, **FOLLOWS)
        (tor,) = inventory_as_requested(cell, rack).hardware_switches
        eos.enter()
        eos.execute("enable")
        for command in plan_from_nothing(load_platform("eos"), tor.variables):
            eos.execute(command.text)
        monkeypatch.setattr(testbed, "load_inventory", lambda _path, is_trusted: rack)
        bed = testbed.SshTestbed("rack", Path("rack.yaml"))
        bed._capabilities = {f"h{index}": CAPABILITIES for index in range(len(INTERFACES["eos"]))}
        assert bed.unsupported(cell) is None
        assert bed.differences(cell) == [
            "of tor there is no comparison of buffer, delays, alpha of the buffer"
        ]
        assert "asks for a switch that marks nothing in priority 3" in str(bed.unsupported(other))
        assert eos.heard.count("show running-config") == 1
