"""NVIDIA Onyx. Commands as in the Onyx User Manual and Mellanox's recipe DOC-2884 for lossless RoCE."""

from pathlib import Path

import pytest
from helpers.fake_onyx import FakeOnyx
from helpers.fake_switch import wanted
from helpers.switch_contract import SwitchContract

from rogue.harness.provisioning.switches.readback import marking_reported, priority_reported
from rogue.harness.provisioning.switches.registry import PLATFORMS

Onyx = type(PLATFORMS["onyx"])

MARKS = {"from_bytes": 150_000, "to_bytes": 1_500_000}
WANTED = wanted(
    "onyx", ("1/1", "1/2"), switch_priorities={"3": {"dscp": [26], "marks": MARKS, "pauses": True}}
)
GOLDEN = """\
configure terminal
dcb priority-flow-control enable force
dcb priority-flow-control priority 3 enable
interface ethernet 1/1 qos trust L3
interface ethernet 1/1 dcb priority-flow-control mode on force
interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500
interface ethernet 1/2 qos trust L3
interface ethernet 1/2 dcb priority-flow-control mode on force
interface ethernet 1/2 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500
exit
"""
OLD = "interface ethernet 1/2 traffic-class 3 congestion-control ecn minimum-absolute 70 maximum-absolute 70"


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeOnyx:
    """Port 1/2 marks as somebody else wants it, and so does priority 5 of all ports."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    onyx = FakeOnyx()
    onyx.running["interface ethernet 1/2 traffic-class 3 congestion-control"] = OLD
    onyx.running["dcb priority-flow-control priority 5 enable"] = (
        "dcb priority-flow-control priority 5 enable"
    )
    return onyx


class TestContract(SwitchContract):
    wanted, golden = WANTED, GOLDEN
    rejected = tuple(GOLDEN.splitlines()[number] for number in (1, 5, 8))
    lost = GOLDEN.splitlines()[5]

    def state(self, switch: FakeOnyx) -> object:
        return sorted(switch.shown())

    def test_it_is_set_read_back_and_undone(self, tmp_path: Path, switch: FakeOnyx) -> None:
        super().test_it_is_set_read_back_and_undone(tmp_path, switch)
        assert "no dcb priority-flow-control priority 5 enable" in switch.heard


def test_ranges_of_ports_are_told_apart() -> None:
    text = "## a comment\n   interface ethernet 1/1-1/3 qos trust L3\n   lldp\n"
    assert Onyx().configuration(text) == {
        (): (
            "interface ethernet 1/1 qos trust L3",
            "interface ethernet 1/2 qos trust L3",
            "interface ethernet 1/3 qos trust L3",
            "lldp",
        )
    }


@pytest.mark.parametrize(
    ("settings", "mistake"),
    [
        ({"dscp": [24, 31], "pauses": True}, None),
        ({"dscp": [32]}, "got dscp 32, expected 24 to 31, which Onyx puts there by itself"),
        ({"headroom_bytes": 1}, "got headroom_bytes, expected none, as Onyx sizes it by itself"),
        ({"marks": {"from_bytes": 1500, "to_bytes": 2000}}, "got 1500 bytes, expected a multiple of 1000"),
        ({"marks": {**MARKS, "probability": 0.5}}, "got probability 0.5, expected 1, Onyx's own"),
    ],
)
def test_what_it_cannot(settings: dict[str, object], mistake: str | None) -> None:
    told = Onyx().mistake(wanted("onyx", switch_priorities={"3": settings}))
    assert told == (None if mistake is None else f"priority 3: {mistake}")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((OLD,), {3: priority_reported(marks=marking_reported(70_000, 70_000, 100))}),
        (("interface ethernet 1/2 traffic-class 3 congestion-control red minimum-absolute 70",), None),
        (("roce lossless",), None),
        ((OLD, "interface ethernet 1/2 channel-group 5 mode on"), None),
        ((OLD, "interface ethernet 1/2 mlag-channel-group 5 mode active"), None),
        (("dcb priority-flow-control enable", "dcb priority-flow-control priority 3 enable"), {}),
        ((), {}),
    ],
)
def test_what_others_have_set_is_read_in_numbers_or_not_at_all(
    lines: tuple[str, ...], expected: dict[int, object] | None
) -> None:
    """PFC's priorities count for the whole switch, and a port takes part or not."""
    assert Onyx().standing({(): lines}, "", WANTED).ports["1/2"].priorities == expected
