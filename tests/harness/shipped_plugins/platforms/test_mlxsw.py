"""Linux on a switch's chip. Commands as in the mlxsw wiki and iproute2's manual pages."""

import json
from pathlib import Path

import pytest
from helpers.fake_mlxsw import FakeMlxsw
from helpers.fake_switch import LOSSLESS, hardware, served_switch, wanted
from helpers.switch_contract import SwitchContract, golden

from rogue.harness.provisioning.switches.operations import apply, differences, open_switch
from rogue.harness.provisioning.switches.readback import SwitchState, marking_reported, priority_reported
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.remote.errors import NodeError

Mlxsw = type(PLATFORMS["mlxsw"])

PRIORITIES = {"3": {**LOSSLESS["3"], "headroom_bytes": 200_000}}
WANTED = wanted("mlxsw", ("swp1", "swp2"), switch_priorities=PRIORITIES)
OF_A_PORT = """\
sudo -n tc qdisc replace dev swp1 root handle 1: ets bands 8 strict 8 priomap 7 6 5 4 3 2 1 0
sudo -n tc qdisc replace dev swp1 parent 1:5 handle 15: red limit 3000000 min 150000 max 1500000 avpkt 1000 \
burst 601 probability 0.1 ecn nodrop
sudo -n dcb buffer set dev swp1 buffer-size 3:200000
sudo -n dcb buffer set dev swp1 prio-buffer 3:3
sudo -n dcb pfc set dev swp1 prio-pfc 3:on
sudo -n dcb app replace dev swp1 dscp-prio 26:3
"""
GOLDEN = OF_A_PORT + OF_A_PORT.replace("swp1", "swp2")


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMlxsw:
    """Somebody's: DSCP 26 is in priority 2, priority 4 pauses and priority 6 marks."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    made = FakeMlxsw()
    made.root["swp2"] = "7 6 5 4 3 2 1 0"
    made.red["swp2", 2] = {"limit": 900, "min": 100, "max": 400, "ecn": True, "probability": 0.25}
    made.dscp["swp1", 26] = 2
    made.buffers["swp2"][4] = 4
    made.sizes["swp2"][4] = 100_000
    made.pauses["swp2"][4] = True
    return made


class TestContract(SwitchContract):
    wanted, golden = WANTED, GOLDEN
    rejected = tuple(GOLDEN.splitlines()[1:10:2])
    lost = GOLDEN.splitlines()[3]

    def state(self, switch: FakeMlxsw) -> str:
        """RED's parameters that only `tc` needs are not put back."""
        for options in switch.red.values():
            for key in ("limit", "ewma", "nodrop", "Scell_log"):
                options.pop(key, None)
        return switch.state()


def test_what_others_mark_and_pause_goes(tmp_path: Path, switch: FakeMlxsw) -> None:
    with (
        served_switch(tmp_path / "tor", switch) as served,
        open_switch(hardware(WANTED, served.login)) as opened,
    ):
        told = [command.text for command in apply(opened, WANTED)]
    assert told[:2] == [
        "sudo -n tc qdisc del dev swp2 parent 1:2",
        "sudo -n dcb pfc set dev swp2 prio-pfc 4:off",
    ]
    assert sorted(switch.red) == [("swp1", 5), ("swp2", 5)]
    assert switch.dscp["swp1", 26] == 3


def test_marks_that_the_chip_does_not_make_are_read_back(tmp_path: Path, switch: FakeMlxsw) -> None:
    switch.is_offloaded = False
    switch.root.clear()
    switch.red.clear()
    with (
        served_switch(tmp_path / "tor", switch) as served,
        open_switch(hardware(WANTED, served.login)) as opened,
    ):
        with pytest.raises(NodeError, match="what is read back differs from what was set"):
            apply(opened, WANTED)
        assert differences(opened, WANTED)[:2] == [
            "tor: got `swp1 queues strict in software`, expected `swp1 queues strict`",
            "tor: got `swp1 marks 3 from 150000 to 1500000 percent 10 in software`, expected `swp1 "
            "marks 3 from 150000 to 1500000 percent 10`",
        ]


def test_drops_are_no_marks(switch: FakeMlxsw) -> None:
    switch.red["swp2", 5] = {"min": 150_000, "max": 1_500_000, "ecn": False, "probability": 0.1}
    (lines,) = Mlxsw().configuration(switch.shown()).values()
    assert "swp2 marks 3 from 150000 to 1500000 percent 10 by drops" in lines


def test_queues_that_could_not_be_put_back_are_refused() -> None:
    qdisc = {"kind": "tbf", "handle": "8:", "dev": "swp2", "root": True, "options": {}}
    found = Mlxsw().configuration(f"{json.dumps([qdisc])}\n")
    with pytest.raises(NodeError) as told:
        Mlxsw().changes(WANTED, found)
    assert str(told.value) == (
        "swp2: got foreign queues, tbf 8:, expected none, or ours; take them away with "
        "`tc qdisc del dev swp2 root`"
    )
    assert Mlxsw().changes(wanted("mlxsw", ("swp1",), switch_priorities=PRIORITIES), found)


@pytest.mark.parametrize(
    ("settings", "mistake"),
    [
        ({"pauses": True}, "priority 3: got pauses without headroom_bytes, expected both, as the driver"),
        ({"headroom_bytes": 1}, "priority 3: got headroom_bytes without pauses, expected both"),
        (
            {"marks": {"from_bytes": 1, "to_bytes": 1, "probability": 0.005}},
            "priority 3: got probability 0.005, expected whole percent",
        ),
    ],
)
def test_what_it_cannot(settings: dict[str, object], mistake: str) -> None:
    told = Mlxsw().mistake(wanted("mlxsw", switch_priorities={"3": settings}))
    assert str(told).startswith(mistake)
    assert Mlxsw().mistake(WANTED) is None


def test_a_priority_that_is_only_told_apart_needs_no_queues() -> None:
    only = wanted("mlxsw", ("swp1",), switch_priorities={"3": {"dscp": [26]}})
    assert golden(only) == "sudo -n dcb app replace dev swp1 dscp-prio 26:3\n"


@pytest.mark.parametrize("shown", ["", "\nlo app \nlo pfc \n", "tc: not found\n"])
def test_without_tc_there_is_a_sentence(shown: str) -> None:
    with pytest.raises(NodeError, match="expected a list in JSON; install iproute2 there"):
        Mlxsw().configuration(shown)


def test_what_somebody_else_has_set_is_read_in_numbers_or_not_at_all(switch: FakeMlxsw) -> None:
    def standing() -> SwitchState:
        return Mlxsw().standing(Mlxsw().configuration(switch.shown()), "", WANTED)

    assert standing().ports["swp1"].priorities == {}
    assert standing().ports["swp2"].priorities == {
        4: priority_reported(pauses=True, headroom_bytes=100_000),
        6: priority_reported(marks=marking_reported(100, 400, 25)),
    }
    switch.red["swp2", 2]["ecn"] = False
    assert standing().ports["swp2"].priorities is None, "it drops"
    switch.red["swp2", 2]["ecn"] = True
    switch.is_offloaded = False
    assert standing().ports["swp2"].priorities is None, "not the chip's"
