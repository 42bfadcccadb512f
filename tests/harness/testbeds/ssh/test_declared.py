from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import fake_inventory
from helpers.switch_inventory import hardware, wanted

from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ssh.declared_switches import missing_on_switches, switch_facts, unmarked

MARKS = {"0": {"marks": {"from_bytes": 30_000, "to_bytes": 30_000}}}
PAUSES = {"3": {"pauses": True}}


def rack(*priorities: dict[str, object]) -> Inventory:
    switches = [hardware(wanted("declared", switch_priorities=each), None) for each in priorities]
    return replace(fake_inventory(), switch=None, hardware_switches=tuple(switches))


def test_dctcp_needs_a_switch_that_marks(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[dctcp]")
    told = str(unmarked(cell, rack()))
    assert told.startswith("dctcp needs a switch that marks, but the inventory declares none")
    assert str(unmarked(cell, rack(MARKS, PAUSES))) == (
        "dctcp needs switches where some priority marks, but by the inventory tor has none: set it in "
        "switch_priorities, or leave dctcp out"
    )
    assert unmarked(cell, rack(MARKS, MARKS)) is None
    assert unmarked(cell, fake_inventory()) is None, "our own switch marks by itself"


@pytest.mark.parametrize("transport", ["rogue", "roce", "cubic"])
def test_what_needs_no_marks_asks_for_none(tmp_path: Path, transport: str) -> None:
    assert unmarked(cell_of(tmp_path, f"transports=[{transport}]"), rack()) is None


def test_pauses_are_asked_for_alike(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    assert missing_on_switches(cell, rack(PAUSES), "roce+pfc", "pauses") is None
    told = missing_on_switches(cell, rack(MARKS), "roce+pfc", "pauses")
    assert str(told).startswith("roce+pfc needs switches where some priority pauses")


def test_the_packets_of_hosts_must_be_in_the_priority_that_marks(tmp_path: Path) -> None:
    cell, marks = cell_of(tmp_path), MARKS["0"]
    assert missing_on_switches(cell, rack({"3": {**marks, "dscp": [0, 26]}}), "dctcp", "marks") is None
    its_own_map = rack({"3": {**marks, "dscp": [26]}, "0": marks})
    assert missing_on_switches(cell, its_own_map, "dctcp", "marks") is None
    for of_packets in ({"0": {"dscp": [0]}}, {}):
        assert missing_on_switches(
            cell, rack({"3": {**marks, "dscp": [26]}, **of_packets}), "dctcp", "marks"
        ) == (
            "dctcp needs switches where the priority of its packets marks, but by the inventory those of h0, "
            "with DSCP 0, are in none that does on tor: add 0 to its dscp in switch_priorities, or leave "
            "dctcp out"
        )


def test_a_host_that_the_cell_has_not_is_not_asked(tmp_path: Path) -> None:
    of_others = rack({"3": {**MARKS["0"], "dscp": [26]}})
    hosts = tuple(replace(each, login=replace(each.login, node=f"x{each.name}")) for each in of_others.hosts)
    assert missing_on_switches(cell_of(tmp_path), replace(of_others, hosts=hosts), "dctcp", "marks") is None


def test_what_is_declared_is_a_fact_of_each_cell() -> None:
    assert switch_facts(rack({**MARKS, **PAUSES})) == {
        "switch_tor": "declared: priority 0: marks beyond 30000 bytes; priority 3: pauses"
    }
    assert switch_facts(fake_inventory()) == {}
