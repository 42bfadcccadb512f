"""Test what a cell requests of hardware switches, and which settings differ from it."""

from pathlib import Path
from typing import Any

import pytest
from helpers.cell_keys import PAUSES, TOPOLOGY, keys_of
from helpers.experiments import cell_of
from helpers.nodes import rack_of
from helpers.switch_files import loaded

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.switches.readback import marking_reported, priority_reported
from rogue.harness.provisioning.switches.settings import PrioritySettings
from rogue.harness.testbeds.ssh.switch_request import (
    Mismatch,
    of_buffer,
    of_priority,
    requested_settings,
    unreported,
)
from rogue.workloads.topologies import Topology

STEP = {"from_bytes": 98_670, "to_bytes": 98_670, "probability": 1}
INCAST = "{kind: incast, senders: 2, size: 1MB}"
CURVE = {"from_bytes": 5_000, "to_bytes": 200_000, "probability": 0.01}


NOT_A_SWITCHES = {
    "mtu": "of hosts, whose packets are as large",
    "nic": "of hosts",
    "nic_limiters": "of hosts",
    "delay": "of cables; an inventory of hardware switches has its own",
    "pause_watchdog_restore": "means something beside pause_watchdog, which is refused",
}
OTHERS: dict[str, tuple[object, ...]] = {
    **TOPOLOGY,
    **{key: (value,) for key, value in PAUSES.items()},
    "weights": ("[1]",),
    "switch_controls": ("step",),
}


def asked(
    directory: Path, *settings: str, platform: str = "eos", **variables: Any
) -> dict[int, PrioritySettings]:
    rack = rack_of(platform, **variables)
    cell = cell_of(directory, *settings)
    return dict(requested_settings(cell, rack, rack.hardware_switches[0]).switch_priorities)


def test_request_replaces_the_inventorys_numbers_and_keeps_other_priorities(tmp_path: Path) -> None:
    other = {"marks": {"from_bytes": 7, "to_bytes": 7}, "dscp": [46]}
    typed = {"3": {"dscp": [26], "marks": {"from_bytes": 1, "to_bytes": 2}, "pauses": True}, "5": other}
    found = asked(tmp_path, "transports=[dctcp]", switch_priorities=typed)
    assert found[3] == PrioritySettings.model_validate({"dscp": [26], "marks": STEP})
    assert found[5] == PrioritySettings.model_validate(other)


def test_stated_pause_points_reach_platforms_that_have_them(tmp_path: Path) -> None:
    stated = ("transports=[roce+pfc]", "topology.pause_alpha=0.5", "topology.pause_headroom=50KB")
    found = asked(tmp_path, *stated, platform="sonic")[3]
    assert (found.pause_alpha, found.headroom_bytes) == (0.5, 50_000)
    assert asked(tmp_path, "transports=[roce+pfc]", platform="sonic")[3].pause_alpha is None


def test_settings_that_apply_does_not_make_are_reported(tmp_path: Path) -> None:
    tor = rack_of("eos").hardware_switches[0]
    assert list(unreported(cell_of(tmp_path, "topology.buffer=3MB"), tor)) == [
        "10 Gb/s at Ethernet1, Ethernet2, Ethernet3, Ethernet4",
        "a buffer of 3000000 bytes, of which a port may hold 1 times what is free",
    ]


@pytest.mark.parametrize(
    ("settings", "variables", "words"),
    [
        (
            ("transports=[dctcp]",),
            {"switch_priorities": {"3": {"dscp": [24]}}},
            "inventory inventory.yaml: hardware_switches.tor.switch_priorities: got none, expected one for "
            "the packets of h0, which have DSCP 26; write the priority with dscp: [26].",
        ),
        (
            ("transports=[dctcp]",),
            {"switch_priorities": {"3": {}, "4": {}}},
            "inventory inventory.yaml: hardware_switches.tor.switch_priorities: got 2 that name no DSCP, "
            "expected one for the packets of h0, which have DSCP 26; write the priority with dscp: [26].",
        ),
        (
            ("transports=[dctcp]",),
            {"platform": "onyx", "switch_priorities": {"3": {"dscp": [26]}}},
            "small: tor: priority 3: got 98670 bytes, expected a multiple of 1000; "
            "docs/how-to/hardware-switches.md says what each platform takes.",
        ),
        (
            ("transports=[dctcp]", "topology.weights=[1]"),
            {"switch_priorities": {"3": {"dscp": [26]}}},
            "small: topology.weights is for the simulator, nodes have one traffic class, which shares with "
            "none: leave it out.",
        ),
        (
            ("transports=[roce+pfc]", "topology.pause_alpha=0.5"),
            {},
            "small: tor: priority 3: got pause_alpha 0.5, expected none, because EOS has no such "
            "setting; docs/how-to/hardware-switches.md says what each platform takes.",
        ),
        (
            ("transports=[roce+pfc]", "topology.pause_xoff=100KB"),
            {"platform": "sonic"},
            "small: topology.pause_xoff: got a value, expected none for tor, as no platform here has "
            "it; leave it out.",
        ),
        (
            ("transports=[{name: roce+dcqcn, drops_instead: 1}]",),
            {},
            "small: roce+dcqcn_drops_instead=1-r1: tor: got a curve with kmin 5000 and drops_instead 1, "
            "expected kmin of at least 1 and no drops_instead, which is the simulator's; leave it out.",
        ),
        (
            ("transports=[{name: roce+dcqcn, drops_above: 1}]",),
            {},
            "small: tor: priority 3: got drops_above True, expected none, because eos has no such setting; "
            "docs/how-to/hardware-switches.md says what each platform takes.",
        ),
        (
            ("workload=null", "probe=null", f"traffic=[{{name: a, priority: 3, workload: {INCAST}}}]"),
            {},
            "small: rogue-r1: got groups in priority 3, expected all in 0, as nodes have one traffic class; "
            "set priority to 0.",
        ),
    ],
)  # fmt: skip
def test_impossible_requests_are_usage_errors(
    tmp_path: Path, settings: tuple[str, ...], variables: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        asked(tmp_path, *settings, **variables)
    assert str(caught.value) == words


@pytest.mark.parametrize("key", sorted(keys_of(Topology) - {"kind"}))
def test_every_topology_key_is_applied_reported_or_refused(tmp_path: Path, key: str) -> None:
    """No key is ignored; a new key is added here with its effect."""
    if key in NOT_A_SWITCHES:
        return
    rack = rack_of("sonic")
    switch = rack.hardware_switches[0]

    def applied(*settings: str) -> object:
        cell = cell_of(tmp_path, "transports=[roce+pfc]", "topology.pause_headroom=40KB", *settings)
        return requested_settings(cell, rack, switch).switch_priorities, unreported(cell, switch)

    usual = applied()
    with loaded("step"):
        for value in OTHERS[key]:
            try:
                assert applied(f"topology.{key}={value}") != usual
            except UsageError as error:
                assert f"topology.{key}" in str(error)


DCTCP, ROCE, PFC = "transports=[dctcp]", "transports=[roce]", "transports=[roce+pfc]"
NOTHING = priority_reported()
K = priority_reported(marks=marking_reported(98_670, 98_670, 7))
PAUSES = priority_reported(pauses=True)
ALPHA, HEADROOM = "topology.pause_alpha=0.5", "topology.pause_headroom=50KB"


@pytest.mark.parametrize(
    ("settings", "stands", "words"),
    [
        ((DCTCP,), K, None),
        ((ROCE,), NOTHING, None),
        ((PFC,), PAUSES, None),
        ((PFC,), priority_reported(pauses=True, pause_alpha=2.0, headroom_bytes=9), None),
        ((PFC, ALPHA, HEADROOM), PAUSES, None),
        ((PFC, ALPHA), priority_reported(pauses=True, pause_alpha=0.5), None),
        (
            (DCTCP,),
            NOTHING,
            "a switch that marks beyond 98670 bytes in priority 3, and as read back tor marks nothing",
        ),
        (
            (DCTCP,),
            priority_reported(marks=marking_reported(150_000, 1_500_000, 10)),
            "a switch that marks beyond 98670 bytes in priority 3, and as read back tor marks from 150000 to "
            "1500000 bytes, then with 0.1",
        ),
        (
            (ROCE,),
            K,
            "a switch that marks nothing in priority 3, and as read back tor marks beyond 98670 bytes",
        ),
        ((PFC,), NOTHING, "pauses in priority 3, and as read back tor pauses nothing"),
        ((ROCE,), PAUSES, "no pauses in priority 3, and as read back tor pauses"),
        (
            (PFC, ALPHA),
            priority_reported(pauses=True, pause_alpha=2.0),
            "pauses beyond 0.5 times what is free in priority 3, and as read back tor pauses beyond 2 times "
            "that",
        ),
        (
            (PFC, HEADROOM),
            priority_reported(pauses=True, headroom_bytes=9),
            "50000 bytes of headroom in priority 3, and as read back tor keeps 9 bytes",
        ),
    ],
)
def test_differences_in_marks_and_pauses(
    tmp_path: Path, settings: tuple[str, ...], stands: PrioritySettings, words: str | None
) -> None:
    cell = cell_of(tmp_path, *settings)
    found = [other.sentence("tor", []) for other in of_priority(cell, 3, stands, lambda marks: marks)]
    assert found == ([] if words is None else [f"the experiment asks for {words}"])


def test_difference_in_the_buffer(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "topology.buffer=3MB")
    assert [list(of_buffer(cell, buffer_bytes)) for buffer_bytes in (None, 3_000_000)] == [[], []]
    (other,) = of_buffer(cell, 12_000_000)
    assert other == Mismatch("buffer", "a buffer of 3000000 bytes", "has one of 12000000 bytes")
    (other,) = of_buffer(cell_of(tmp_path, "topology.buffer=unbounded"), 12_000_000)
    assert other.requested == "an unbounded buffer"
