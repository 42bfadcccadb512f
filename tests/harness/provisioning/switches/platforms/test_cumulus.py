"""Cumulus Linux. Commands as in NVIDIA's NVUE reference, QoS."""

from pathlib import Path

import pytest
from helpers.fake_nvue import FakeNvue
from helpers.fake_switch import hardware, served_switch, wanted
from helpers.switch_contract import SwitchContract, lost_session_is_undone_later

from rogue.harness.provisioning.switches.operations import apply, open_switch
from rogue.harness.provisioning.switches.platforms.cumulus import Cumulus
from rogue.harness.provisioning.switches.readback import PortState, marking_reported, priority_reported
from rogue.harness.provisioning.switches.settings import PrioritySettings

WANTED = wanted("cumulus", ("swp1", "swp2"))
GOLDEN = """\
nv set qos mapping rogue trust l3
nv set qos mapping rogue dscp 26 switch-priority 3
nv set qos pfc rogue tx enable
nv set qos pfc rogue rx enable
nv set qos pfc rogue switch-priority 3
nv set qos congestion-control rogue traffic-class 3 ecn enable
nv set qos congestion-control rogue traffic-class 3 red disable
nv set qos congestion-control rogue traffic-class 3 min-threshold 150000
nv set qos congestion-control rogue traffic-class 3 max-threshold 1500000
nv set qos congestion-control rogue traffic-class 3 probability 10
nv set interface swp1 qos mapping profile rogue
nv set interface swp1 qos pfc profile rogue
nv set interface swp1 qos congestion-control profile rogue
nv set interface swp2 qos mapping profile rogue
nv set interface swp2 qos pfc profile rogue
nv set interface swp2 qos congestion-control profile rogue
nv config apply -y
"""


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNvue:
    """Both ports have somebody's own profile."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    nvue = FakeNvue()
    for port in ("swp1", "swp2"):
        key = f"interface {port} qos congestion-control profile"
        nvue.applied[key] = f"{key} theirs"
    return nvue


class TestContract(SwitchContract):
    wanted, golden = WANTED, GOLDEN
    rejected = tuple(GOLDEN.splitlines()[::4])
    lost = GOLDEN.splitlines()[7]

    def state(self, switch: FakeNvue) -> object:
        return sorted(switch.applied.values()), switch.pending

    def test_a_lost_session_is_undone_later(self, tmp_path: Path, switch: FakeNvue) -> None:
        """What was pending stays so."""
        state = lambda: sorted(switch.applied.values())  # noqa: E731
        lost_session_is_undone_later(tmp_path / "tor", switch, WANTED, state, self.lost)


def test_lists_and_ranges_are_told_apart() -> None:
    text = "nv set interface swp1-2,swp5s0 qos pfc profile a\nnv set qos pfc a switch-priority 3,5-6\n- no\n"
    assert Cumulus().configuration(text) == {
        (): (
            "nv set interface swp1 qos pfc profile a",
            "nv set interface swp2 qos pfc profile a",
            "nv set interface swp5s0 qos pfc profile a",
            "nv set qos pfc a switch-priority 3",
            "nv set qos pfc a switch-priority 5",
            "nv set qos pfc a switch-priority 6",
        )
    }


def test_what_of_ours_is_no_longer_wanted_goes(tmp_path: Path) -> None:
    found = {(): ("nv set qos pfc rogue switch-priority 5", "nv set interface swp1 qos pfc profile theirs")}
    less = wanted("cumulus", ("swp1",), switch_priorities={})
    assert [change.command for change in Cumulus().changes(less, found)] == [
        "nv unset qos pfc rogue switch-priority 5",
        "nv unset interface swp1 qos pfc profile",
    ]


def test_what_it_cannot() -> None:
    assert Cumulus().mistake(WANTED) is None
    told = Cumulus().mistake(wanted("cumulus", switch_priorities={"3": {"headroom_bytes": 1}}))
    assert told == "priority 3: got headroom_bytes, expected none, as Cumulus sizes it by itself"
    marks = {"from_bytes": 1, "to_bytes": 1, "probability": 0.005}
    told = Cumulus().mistake(wanted("cumulus", switch_priorities={"3": {"marks": marks}}))
    assert told == "priority 3: got probability 0.005, expected whole percent, such as 0.01"


def test_what_stands_there_in_numbers(tmp_path: Path, switch: FakeNvue) -> None:
    del switch.applied["interface swp2 qos congestion-control profile"]
    with (
        served_switch(tmp_path / "tor", switch) as served,
        open_switch(hardware(WANTED, served.login)) as opened,
    ):
        before = opened.standing(WANTED).ports
        assert before["swp1"] == PortState({}, 100_000_000_000, 9216), "a profile without lines of its own"
        assert before["swp2"].of_priority(0) is None, "marks of default-global, which no line shows"
        assert before["swp2"].of_priority(3) == PrioritySettings()
        apply(opened, WANTED)
        marks = marking_reported(150_000, 1_500_000, 10)
        assert opened.standing(WANTED).ports["swp2"].priorities == {
            3: priority_reported(marks=marks, pauses=True)
        }


@pytest.mark.parametrize(
    "lines",
    [
        ("nv set qos roce mode lossless",),
        (
            "nv set interface swp1 qos congestion-control profile theirs",
            "nv set qos congestion-control theirs traffic-class 3 ecn enable",
        ),
    ],
)
def test_what_has_no_numbers_is_not_known(lines: tuple[str, ...]) -> None:
    assert 3 in Cumulus().standing({(): lines}, "", WANTED).ports["swp1"].not_known


def test_a_port_without_profiles_has_those_of_all_ports() -> None:
    own = "nv set qos congestion-control default-global traffic-class 3"
    marks = (
        f"{own} {each}" for each in ("ecn enable", "min-threshold 1", "max-threshold 2", "probability 3")
    )
    lines = ("nv set qos pfc default-global switch-priority 4", *marks)
    assert Cumulus().standing({(): lines}, "", WANTED).ports["swp1"].priorities == {
        3: priority_reported(marks=marking_reported(1, 2, 3)), 4: priority_reported(pauses=True),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("speed", "expected"), [("100G", 10**11), ("2.5G", 2_500_000_000), ("100M", 10**8), ("auto", None)]
)
def test_a_speed(speed: str, expected: int | None) -> None:
    told = f'{{"swp1": {{"link": {{"speed": "{speed}"}}}}}}'
    assert Cumulus().standing({}, told, WANTED).ports["swp1"].rate_bps == expected
