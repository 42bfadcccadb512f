"""Arista EOS. Commands as in the EOS User Manual, chapters Quality of Service and Data Center Bridging."""

from pathlib import Path

import pytest
from helpers.fake_eos import FakeEos
from helpers.fake_switch import hardware, served_switch, wanted

from rogue.harness.provisioning.switches.operations import (
    apply,
    differences,
    open_switch,
    plan,
    plan_from_nothing,
    undo,
)
from rogue.harness.provisioning.switches.platforms.eos import Eos
from rogue.harness.provisioning.switches.readback import PortState, marking_reported, priority_reported

WANTED = wanted("eos")
MARKS = (
    "random-detect ecn minimum-threshold 150000 bytes maximum-threshold 1500000 bytes "
    "max-mark-probability 10 weight 0"
)
GOLDEN = f"""\
configure session rogue
abort
configure session rogue
interface Ethernet1
qos trust dscp
priority-flow-control on
priority-flow-control priority 3 no-drop
exit
interface Ethernet1
uc-tx-queue 3
{MARKS}
exit
exit
interface Ethernet2
qos trust dscp
priority-flow-control on
priority-flow-control priority 3 no-drop
exit
interface Ethernet2
uc-tx-queue 3
{MARKS}
exit
exit
commit
"""
RESTORED = [
    "interface Ethernet1",
    "uc-tx-queue 3",
    "random-detect ecn minimum-threshold 9 bytes maximum-threshold 9 bytes max-mark-probability 100 weight 0",
]
PORT, QUEUE = ("interface Ethernet1",), ("interface Ethernet1", "uc-tx-queue 3")


def test_the_golden_plan() -> None:
    assert "".join(f"{command}\n" for command in plan_from_nothing(Eos(), WANTED)) == GOLDEN


def test_it_is_set_read_back_and_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    switch = FakeEos()
    switch.running.open(QUEUE)
    switch.running.put(QUEUE, "random-detect ecn minimum-threshold", RESTORED[2])
    switch.running.put(
        PORT, "priority-flow-control priority 4 no-drop", "priority-flow-control priority 4 no-drop"
    )
    before = switch.running.shown()
    with (
        served_switch(tmp_path / "tor", switch) as served,
        open_switch(hardware(WANTED, served.login)) as opened,
    ):
        planned = plan(opened, WANTED)
        assert switch.running.shown() == before, "a plan changes nothing"
        told = apply(opened, WANTED)
        assert told == planned
        assert switch.running.modes[QUEUE]["random-detect ecn minimum-threshold"].startswith(
            "random-detect ecn minimum-threshold 150000 bytes"
        )
        assert list(switch.running.modes[PORT])[-3:] == [
            "qos trust",
            "priority-flow-control on",
            "priority-flow-control priority 3 no-drop",
        ], "priority 4 pauses no more"
        assert (differences(opened, WANTED), apply(opened, WANTED)) == ([], [])
        assert opened.ledger.file.is_file()
        switch.running.take(PORT, "qos trust")
        assert differences(opened, WANTED) == [
            "tor: interface Ethernet1: got nothing, expected `qos trust dscp`"
        ]
        undo(opened)
        assert not opened.ledger.file.exists()
        assert undo(opened) == []
    assert sorted(switch.running.shown()) == sorted(before)


@pytest.mark.parametrize(
    ("settings", "mistake"),
    [
        ({"pauses": True}, None),
        ({"headroom_bytes": 9}, "priority 3: got headroom_bytes, expected none, as EOS sizes it by itself"),
        (
            {"marks": {"from_bytes": 1, "to_bytes": 2, "probability": 0.125}},
            "priority 3: got probability 0.125, expected whole percent, such as 0.01",
        ),
        (
            {"marks": {"from_bytes": 1, "to_bytes": 256_000_001}},
            "priority 3: got 256000001 bytes, expected 256000000 at most",
        ),
    ],
)
def test_what_it_cannot(settings: dict[str, object], mistake: str | None) -> None:
    assert Eos().mistake(wanted("eos", switch_priorities={"3": settings})) == mistake


def test_only_dscps_that_eos_puts_elsewhere_are_mapped() -> None:
    lines = Eos().lines(wanted("eos", switch_priorities={"3": {"dscp": [26, 0, 40]}}))
    assert [line.text for line in lines if "map" in line.text] == [
        "qos map dscp 0 to traffic-class 3",
        "qos map dscp 40 to traffic-class 3",
    ]


def test_another_map_than_its_own_is_taken_away_and_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EOS puts DSCP 26 into traffic class 3 by itself; here somebody had put it into 5."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    switch = FakeEos()
    switch.running.put((), "qos map dscp 26", "qos map dscp 26 to traffic-class 5")
    before = switch.running.shown()
    with served_switch(tmp_path, switch) as served, open_switch(hardware(WANTED, served.login)) as session:
        apply(session, WANTED)
        assert "no qos map dscp 26" in switch.heard
        assert differences(session, WANTED) == []
        undo(session)
    assert sorted(switch.running.shown()) == sorted(before)


def test_a_port_that_trusted_nothing_does_so_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    switch = FakeEos()
    switch.running.put(PORT, "qos trust", "no qos trust")
    with served_switch(tmp_path, switch) as served, open_switch(hardware(WANTED, served.login)) as session:
        apply(session, WANTED)
        undo(session)
    assert "no qos trust" in switch.heard[switch.heard.index("commit") :]


def test_a_line_that_ends_as_a_prompt_does_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte by byte, so that each end of the text is looked at."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    switch = FakeEos()
    switch.running.put(PORT, "description", "description to s1->")
    switch.is_slow = True
    with served_switch(tmp_path, switch) as served, open_switch(hardware(WANTED, served.login)) as session:
        assert session.configuration()[()][-1] == "end"
        assert "interface Ethernet30" in session.configuration()[()]


def test_what_stands_there_in_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """10 Gb/s, whose link is up; the other is down, and then EOS says 0."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    switch = FakeEos()
    switch.interfaces["Ethernet2"]["bandwidth"] = 0
    with (
        served_switch(tmp_path / "tor", switch) as served,
        open_switch(hardware(WANTED, served.login)) as opened,
    ):
        assert opened.standing(WANTED).ports["Ethernet1"] == PortState({}, 10_000_000_000, 9214)
        apply(opened, WANTED)
        found = opened.standing(WANTED)
        marks = marking_reported(150_000, 1_500_000, 10)
        assert found.ports["Ethernet1"].priorities == {3: priority_reported(marks=marks, pauses=True)}
        assert (found.ports["Ethernet2"].rate_bps, found.buffer_bytes) == (None, None)
        assert found.configuration[QUEUE] == (MARKS,)
        switch.interfaces.clear()
        assert opened.standing(WANTED).ports["Ethernet1"].rate_bps is None, "a command that it rejects"


PFC = ("priority-flow-control on", "priority-flow-control priority 3 no-drop")
ECN = "random-detect ecn minimum-threshold {} maximum-threshold {} max-mark-probability 10"


@pytest.mark.parametrize(
    ("least", "most", "numbers"),
    [
        ("150 kbytes", "1500 kbytes", (150_000, 1_500_000)),
        ("150000 bytes", "1500 kbytes", (150_000, 1_500_000)),
        ("1 mbytes", "2 mbytes", (1_000_000, 2_000_000)),
    ],
)
@pytest.mark.parametrize("queue", ["uc-tx-queue 3", "tx-queue 3"])
@pytest.mark.parametrize("mode", [PORT, ("qos profile P",)])
def test_profiles_and_units_are_resolved(
    least: str, most: str, numbers: tuple[int, int], queue: str, mode: tuple[str, ...]
) -> None:
    text = "\n".join(
        [
            mode[0], *(f"   {line}" for line in PFC), f"   {queue}", f"      {ECN.format(least, most)}", "!",
            *([] if mode == PORT else [PORT[0], "   service-profile P"]), "end",
        ]
    )  # fmt: skip
    port = Eos().standing(Eos().configuration(text), "", WANTED).ports["Ethernet1"]
    assert port.priorities == {3: priority_reported(marks=marking_reported(*numbers, 10), pauses=True)}


@pytest.mark.parametrize(
    "found",
    [
        {PORT: ("service-profile P",)},
        {PORT: ("channel-group 7 mode active",)},
        {PORT: ("profile rack",)},
        {QUEUE: (ECN.format("700 segments", "7000 segments"),)},
        {QUEUE: (ECN.format("10 microseconds", "20 microseconds"),)},
        {PORT: ("service-profile P", "priority-flow-control on"), ("qos profile P",): PFC},
        {
            PORT: ("service-profile P",), QUEUE: (ECN.format("1 bytes", "2 bytes"),),
            ("qos profile P", "uc-tx-queue 3"): (ECN.format("3 bytes", "4 bytes"),),
        },
    ],
)  # fmt: skip
def test_what_cannot_be_resolved_is_not_known(found: dict[tuple[str, ...], tuple[str, ...]]) -> None:
    port = Eos().standing(found, "", WANTED).ports["Ethernet1"]
    assert (port.of_priority(3), 3 in port.not_known) == (None, True)


def test_without_pfc_on_the_port_nothing_pauses() -> None:
    found = {PORT: ("priority-flow-control priority 3 no-drop",)}
    assert Eos().standing(found, "", WANTED).ports["Ethernet1"].priorities == {}
