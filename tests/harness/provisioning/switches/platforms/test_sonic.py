"""SONiC. Tables as in SONiC's Configuration.md and its YANG models, patches as in RFC 6902."""

import copy
import json
from pathlib import Path

import pytest
from helpers.fake_sonic import FakeSonic
from helpers.switch_contract import (
    golden,
    is_set_read_back_and_undone,
    lost_session_is_undone_later,
    rejection_is_rolled_back,
)
from helpers.switch_inventory import LOSSLESS, wanted

from rogue.harness.provisioning.switches.platforms.sonic import Sonic

WANTED = wanted(
    "sonic", ("Ethernet0", "Ethernet4"), switch_priorities={"3": {**LOSSLESS["3"], "headroom_bytes": 35_776}}
)
APPLY = "sudo config apply-patch /dev/stdin"


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSonic:
    """Somebody's own profile marks queue 4, and priority 4 pauses, too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    sonic = FakeSonic()
    sonic.tables["WRED_PROFILE"] = {"AZURE": {"ecn": "ecn_all"}}
    sonic.tables["QUEUE"]["Ethernet4|4"] = {"scheduler": "scheduler.1", "wred_profile": "AZURE"}
    sonic.tables["PORT_QOS_MAP"] = {"Ethernet4": {"pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}}
    return sonic


def test_the_golden_plan() -> None:
    command, _, patch = golden(wanted("sonic", ("Ethernet0",))).partition(" <<\n")
    assert command == APPLY
    same = {str(number): str(number) for number in range(8)}
    colours = {
        f"{colour}_{what}": value
        for colour in ("green", "yellow", "red")
        for what, value in (
            ("min_threshold", "150000"), ("max_threshold", "1500000"), ("drop_probability", "10"),
        )
    }  # fmt: skip
    enabled = {f"wred_{colour}_enable": "true" for colour in ("green", "yellow", "red")}
    maps = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map")
    assert json.loads(patch) == [
        {"op": "add", "path": "/DSCP_TO_TC_MAP", "value": {"ROGUE": {"26": "3"}}},
        {"op": "add", "path": "/TC_TO_QUEUE_MAP", "value": {"ROGUE": same}},
        {
            "op": "add",
            "path": "/TC_TO_PRIORITY_GROUP_MAP",
            "value": {"ROGUE": {**dict.fromkeys(same, "0"), "3": "3"}},
        },
        {"op": "add", "path": "/MAP_PFC_PRIORITY_TO_QUEUE", "value": {"ROGUE": same}},
        {
            "op": "add",
            "path": "/WRED_PROFILE",
            "value": {"ROGUE_3": {"ecn": "ecn_all", **colours, **enabled}},
        },
        {
            "op": "add",
            "path": "/PORT_QOS_MAP",
            "value": {"Ethernet0": {**dict.fromkeys(maps, "ROGUE"), "pfc_enable": "3"}},
        },
        {"op": "add", "path": "/QUEUE", "value": {"Ethernet0|3": {"wred_profile": "ROGUE_3"}}},
    ]


def test_it_is_set_read_back_and_undone(tmp_path: Path, switch: FakeSonic) -> None:
    is_set_read_back_and_undone(tmp_path / "tor", switch, WANTED, lambda: copy.deepcopy(switch.tables))
    forward, back = switch.patches
    assert {"op": "remove", "path": "/BUFFER_PG"} in back
    assert {
        "op": "replace",
        "path": "/QUEUE/Ethernet4|4",
        "value": {"scheduler": "scheduler.1"},
    } in forward
    ports = [each["value"] for each in forward if each["path"] == "/PORT_QOS_MAP/Ethernet4"]
    assert (ports[0]["pfc_enable"], ports[0]["pfcwd_sw_enable"]) == ("3", "3,4"), "what is not ours stays"
    buffers = next(each["value"] for each in forward if each["path"] == "/BUFFER_PROFILE")
    assert buffers["ROGUE_3"]["xoff"] == "35776"


def test_a_rejected_patch_changes_nothing(tmp_path: Path, switch: FakeSonic) -> None:
    state = lambda: copy.deepcopy(switch.tables)  # noqa: E731
    switch.rejects = APPLY
    rejection_is_rolled_back(tmp_path / "tor", switch, WANTED, state, APPLY)


def test_a_lost_session_has_changed_nothing(tmp_path: Path, switch: FakeSonic) -> None:
    state = lambda: copy.deepcopy(switch.tables)  # noqa: E731
    lost_session_is_undone_later(tmp_path / "tor", switch, WANTED, state, APPLY)


def test_a_name_with_a_slash_is_escaped() -> None:
    text = golden(wanted("sonic", ("Ethernet1/1", "Ethernet1/2")))
    assert '"path": "/QUEUE/Ethernet1~12|3"' in text


def test_what_it_cannot() -> None:
    assert Sonic().mistake(WANTED) is None
    told = Sonic().mistake(wanted("sonic", switch_priorities={"3": {"headroom_bytes": 1}}))
    assert told == "priority 3: got headroom_bytes without pauses, expected both"
    marks = {"from_bytes": 1, "to_bytes": 1, "probability": 0.005}
    told = Sonic().mistake(wanted("sonic", switch_priorities={"3": {"marks": marks}}))
    assert told == "priority 3: got probability 0.005, expected whole percent, such as 0.01"
