"""Tests: compare what a cell requests with what the inventory declares."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory
from helpers.fake_switch import hardware, wanted
from pydantic import ValidationError

from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ssh.declared_switches import (
    allowed_differences,
    missing_on_switches,
    switch_facts,
    why_switches_mismatch,
    why_unmarked,
)
from rogue.harness.testbeds.ssh.support import unsupported

DCTCP = "transports=[dctcp]"
PFC = "transports=[roce+pfc]"
MAY = {"switch_may_differ": ["marks"]}


def step(threshold_bytes: int) -> dict[str, Any]:
    return {"0": {"marks": {"from_bytes": threshold_bytes, "to_bytes": threshold_bytes, "probability": 0.5}}}


def curve(probability: float) -> dict[str, Any]:
    return {"0": {"marks": {"from_bytes": 5_000, "to_bytes": 200_000, "probability": probability}}}


def rack(priorities: Mapping[str, Any], platform: str = "declared", **variables: Any) -> Inventory:
    switch = hardware(wanted(platform, switch_priorities=priorities, **variables), None)
    return replace(fake_inventory(), switch=None, hardware_switches=(switch,))


@pytest.mark.parametrize("platform", ["declared", "onyx"])
def test_declared_threshold_must_be_the_requested_one(tmp_path: Path, platform: str) -> None:
    """65 frames of 1518 bytes at 10 Gb/s."""
    cell = cell_of(tmp_path, DCTCP)
    assert why_switches_mismatch(cell, rack(step(98_670), platform)) is None
    assert why_switches_mismatch(cell, rack(step(150_000), platform)) == (
        "dctcp asks for a switch that marks beyond 98670 bytes, and by the inventory tor marks beyond 150000 "
        "bytes: set that in switch_priorities, state mark_above in the experiment, or allow it by "
        "switch_may_differ: [marks]"
    )


def test_experiment_can_state_the_declared_threshold(tmp_path: Path) -> None:
    stated = cell_of(tmp_path, "transports=[{name: dctcp, mark_above: 150KB}]", "probe=null")
    nodes = {f"h{index}": CAPABILITIES for index in range(4)}
    assert unsupported(stated, rack(step(150_000)), nodes) is None
    assert "marks beyond 98670 bytes" in str(unsupported(stated, rack(step(98_670)), nodes))


def test_allowed_difference_is_reported(tmp_path: Path) -> None:
    cell, allowed = cell_of(tmp_path, DCTCP), rack(step(150_000), **MAY)
    assert why_switches_mismatch(cell, allowed) is None
    assert allowed_differences(cell, allowed) == {
        "marks_differ": "dctcp asks for a switch that marks beyond 98670 bytes, and by the inventory tor "
        "marks beyond 150000 bytes"
    }
    assert allowed_differences(cell, rack(step(98_670), **MAY)) == {}
    with pytest.raises(ValidationError):
        rack(step(150_000), switch_may_differ=["everything"])


def test_probability_of_a_curve_is_compared(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[roce+dcqcn]")
    assert why_switches_mismatch(cell, rack(curve(0.01))) is None
    reason = str(why_switches_mismatch(cell, rack(curve(0.1))))
    assert "marks from 5000 to 200000 bytes, then with 0.01, and by the inventory tor marks from" in reason
    assert "mark_above" not in reason


def test_marks_of_other_priorities_are_ignored(tmp_path: Path) -> None:
    own = {**step(98_670), "3": {"dscp": [26], "marks": {"from_bytes": 1, "to_bytes": 2}}}
    assert why_switches_mismatch(cell_of(tmp_path, DCTCP), rack(own)) is None


@pytest.mark.parametrize("setting", ["pause_xoff=100KB", "pause_watchdog=1ms"])
def test_stated_pause_point_is_refused(tmp_path: Path, setting: str) -> None:
    reason = why_switches_mismatch(
        cell_of(tmp_path, PFC, f"topology.{setting}"), rack({"0": {"pauses": True}})
    )
    key = setting.partition("=")[0]
    assert reason == f"topology.{key}: no inventory says when a switch pauses: leave it out"
    plain = cell_of(tmp_path, "transports=[roce]", f"topology.{setting}")
    assert why_switches_mismatch(plain, rack({"0": {"pauses": True}})) is None


def test_stated_pause_alpha_is_compared(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, PFC, "topology.pause_alpha=0.5")
    same, other, unsaid = (rack({"0": {"pauses": True, "pause_alpha": each}}) for each in (0.5, 2, None))
    assert (why_switches_mismatch(cell, same), allowed_differences(cell, same)) == (None, {})
    words = "topology.pause_alpha is 0.5, and by the inventory tor pauses"
    advice = "set pause_alpha in switch_priorities, or leave it out of the topology"
    assert why_switches_mismatch(cell, other) == f"{words} at 2: {advice}"
    assert why_switches_mismatch(cell, unsaid) == f"{words} when it thinks: {advice}"
    assert why_switches_mismatch(cell_of(tmp_path, PFC), other) is None
    assert "pauses_differ" in allowed_differences(cell_of(tmp_path, PFC), other)


def test_headroom_is_compared(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, PFC, "topology.pause_headroom=50KB")
    kept, other, unsaid = (
        rack({"0": {"pauses": True, "headroom_bytes": size_bytes}}) for size_bytes in (50_000, 60_000, None)
    )
    assert why_switches_mismatch(cell, kept) is None
    assert "is 50000 bytes, and by the inventory tor keeps 60000 bytes" in str(
        why_switches_mismatch(cell, other)
    )
    assert "keeps what it thinks" in str(why_switches_mismatch(cell, unsaid))
    assert why_switches_mismatch(cell_of(tmp_path, PFC), other) is None


def test_unknown_pause_point_is_reported(tmp_path: Path) -> None:
    found = allowed_differences(cell_of(tmp_path, PFC), rack({"0": {"pauses": True}}))
    assert found["pauses_differ"].endswith("link is 0.0625 times what is free of the buffer")
    assert allowed_differences(cell_of(tmp_path, "transports=[roce]"), rack({"0": {"pauses": True}})) == {}


@pytest.mark.parametrize("settings", [(DCTCP,), (PFC, "topology.pause_xoff=100KB")])
def test_linux_switch_is_not_compared_with_declarations(tmp_path: Path, settings: tuple[str, ...]) -> None:
    inventory = replace(rack(step(1)), switch=fake_inventory().switch)
    assert why_switches_mismatch(cell_of(tmp_path, *settings), inventory) is None
    assert allowed_differences(cell_of(tmp_path, *settings), inventory) == {}


MARKS = {"0": {"marks": {"from_bytes": 30_000, "to_bytes": 30_000}}}
PAUSES = {"3": {"pauses": True}}


def rack_of_declared(*priorities: dict[str, object]) -> Inventory:
    switches = [hardware(wanted("declared", switch_priorities=each), None) for each in priorities]
    return replace(fake_inventory(), switch=None, hardware_switches=tuple(switches))


def test_dctcp_needs_a_switch_that_marks(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[dctcp]")
    reason = str(why_unmarked(cell, rack_of_declared()))
    assert reason.startswith("dctcp needs a switch that marks, but the inventory declares none")
    assert str(why_unmarked(cell, rack_of_declared(MARKS, PAUSES))) == (
        "dctcp needs switches where some priority marks, but by the inventory tor has none: set it in "
        "switch_priorities, or leave dctcp out"
    )
    assert why_unmarked(cell, rack_of_declared(MARKS, MARKS)) is None
    assert why_unmarked(cell, fake_inventory()) is None, "our own switch marks by itself"


def test_priority_of_the_hosts_packets_must_mark(tmp_path: Path) -> None:
    cell, marks = cell_of(tmp_path), MARKS["0"]
    assert (
        missing_on_switches(cell, rack_of_declared({"3": {**marks, "dscp": [0, 26]}}), "dctcp", "marks")
        is None
    )
    its_own_map = rack_of_declared({"3": {**marks, "dscp": [26]}, "0": marks})
    assert missing_on_switches(cell, its_own_map, "dctcp", "marks") is None
    for of_packets in ({"0": {"dscp": [0]}}, {}):
        assert missing_on_switches(
            cell, rack_of_declared({"3": {**marks, "dscp": [26]}, **of_packets}), "dctcp", "marks"
        ) == (
            "dctcp needs switches where the priority of its packets marks, but by the inventory those of h0, "
            "with DSCP 0, are in none that does on tor: add 0 to its dscp in switch_priorities, or leave "
            "dctcp out"
        )


def test_declared_settings_are_facts() -> None:
    assert switch_facts(rack_of_declared({**MARKS, **PAUSES})) == {
        "switch_tor": "declared: priority 0: marks beyond 30000 bytes; priority 3: pauses"
    }
    assert switch_facts(fake_inventory()) == {}
