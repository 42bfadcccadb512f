"""SONiC. Tables as in SONiC's Configuration.md and its YANG models, patches as in RFC 6902."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from helpers.fake_sonic import FakeSonic
from helpers.fake_switch import LOSSLESS, hardware, served_switch, wanted
from helpers.switch_contract import (
    golden,
    is_set_read_back_and_undone,
    lost_session_is_undone_later,
    rejection_is_rolled_back,
)

from rogue.harness.provisioning.switches.operations import apply, open_switch
from rogue.harness.provisioning.switches.platforms.sonic import Sonic, wanted_tables
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables
from rogue.remote.errors import NodeError

WANTED = wanted(
    "sonic", ("Ethernet0", "Ethernet4"), switch_priorities={"3": {**LOSSLESS["3"], "headroom_bytes": 35_776}}
)
POWER = "expected a power of two from 1/256 to 64, such as 0.0625"
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
    assert {"op": "remove", "path": "/QUEUE/Ethernet4|4/wred_profile"} in forward
    ports = {
        each["path"]: each.get("value") for each in forward if "/PORT_QOS_MAP/Ethernet4/" in each["path"]
    }
    assert ports.pop("/PORT_QOS_MAP/Ethernet4/pfc_enable") == "3"
    maps = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map")
    assert ports == {f"/PORT_QOS_MAP/Ethernet4/{each}": "ROGUE" for each in maps}, "what is not ours stays"
    buffers = next(each["value"] for each in forward if each["path"] == "/BUFFER_PROFILE/ROGUE_3")
    assert buffers["xoff"] == "35776"


def test_values_that_are_no_strings_stay(tmp_path: Path, switch: FakeSonic) -> None:
    switch.tables["QUEUE"]["Ethernet4|4"]["others"] = ["a b", 1]
    is_set_read_back_and_undone(tmp_path / "tor", switch, WANTED, lambda: copy.deepcopy(switch.tables))


def test_ranges_are_split_and_put_together_again(tmp_path: Path, switch: FakeSonic) -> None:
    switch.tables["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"] = {"pool": "ingress_lossless_pool"}
    group = {"profile": "pg_lossless_100000_5m_profile"}
    switch.tables["BUFFER_PG"] = {"Ethernet0|3-4": group, "Ethernet4|0": group, "Ethernet4|4-6": group}
    state = lambda: copy.deepcopy(switch.tables)  # noqa: E731
    is_set_read_back_and_undone(tmp_path / "tor", switch, WANTED, state)
    forward, _ = switch.patches
    groups = [each for each in forward if each["path"].startswith("/BUFFER_PG/")]
    assert groups == [
        {"op": "remove", "path": "/BUFFER_PG/Ethernet0|3-4"},
        {"op": "add", "path": "/BUFFER_PG/Ethernet0|3", "value": {"profile": "ROGUE_3"}},
        {"op": "add", "path": "/BUFFER_PG/Ethernet0|4", "value": group},
        {"op": "add", "path": "/BUFFER_PG/Ethernet4|3", "value": {"profile": "ROGUE_3"}},
    ]


def test_a_range_of_queues_keeps_its_scheduler(tmp_path: Path, switch: FakeSonic) -> None:
    del switch.tables["QUEUE"]["Ethernet4|4"]
    switch.tables["QUEUE"]["Ethernet4|2-3"] = {"scheduler": "scheduler.1", "wred_profile": "AZURE"}
    state = lambda: copy.deepcopy(switch.tables)  # noqa: E731
    is_set_read_back_and_undone(tmp_path / "tor", switch, WANTED, state)
    queues = {each["path"]: each.get("value") for each in switch.patches[0] if "/Ethernet4|" in each["path"]}
    assert queues["/QUEUE/Ethernet4|2"] == {"scheduler": "scheduler.1"}
    assert queues["/QUEUE/Ethernet4|3"] == {"scheduler": "scheduler.1", "wred_profile": "ROGUE_3"}


def test_a_switch_of_several_chips_is_refused(tmp_path: Path, switch: FakeSonic) -> None:
    switch.asics = 3
    told = refusal(tmp_path, switch, WANTED)
    assert told.startswith("tor: got a multi-ASIC SONiC, expected one with a single chip; ")


AZURE_LOSSLESS = {
    "ecn": "ecn_all",
    "wred_green_enable": "true",
    "green_min_threshold": "250000",
    "green_max_threshold": "1048576",
    "green_drop_probability": "5",
    "yellow_min_threshold": "1000000",
    "yellow_max_threshold": "2000000",
    "red_min_threshold": "1000000",
    "red_max_threshold": "2000000",
}


@pytest.mark.parametrize("build", ["20220531.27", "202311.1-x", "202411.1-x", "202505.1-x"])
def test_an_older_release_tunes_its_own_profile(tmp_path: Path, switch: FakeSonic, build: str) -> None:
    switch.build = build
    switch.tables["WRED_PROFILE"]["AZURE_LOSSLESS"] = AZURE_LOSSLESS
    switch.tables["QUEUE"]["Ethernet0|3"]["wred_profile"] = "AZURE_LOSSLESS"
    without = wanted("sonic", ("Ethernet0", "Ethernet4"))
    is_set_read_back_and_undone(tmp_path / "tor", switch, without, lambda: copy.deepcopy(switch.tables))
    marks = [each for each in switch.patches[0] if each["path"].startswith("/WRED_PROFILE")]
    place = "/WRED_PROFILE/AZURE_LOSSLESS/green_"
    assert marks == [
        {"op": "replace", "path": f"{place}min_threshold", "value": "150000"},
        {"op": "replace", "path": f"{place}max_threshold", "value": "1500000"},
        {"op": "replace", "path": f"{place}drop_probability", "value": "10"},
    ]


TWO = {**LOSSLESS, "4": {"marks": {"from_bytes": 1, "to_bytes": 1}}}
OTHERS: dict[str, Any] = {
    "no such profile": {"WRED_PROFILE": {}},
    "it does not mark": {"WRED_PROFILE": {"AZURE_LOSSLESS": {**AZURE_LOSSLESS, "ecn": "ecn_none"}}},
    "it is off": {"WRED_PROFILE": {"AZURE_LOSSLESS": {**AZURE_LOSSLESS, "wred_green_enable": "false"}}},
    "another port has it": {"QUEUE": {"Ethernet0|3": {"wred_profile": "AZURE_LOSSLESS"}}},
    "two markings": {},
}


@pytest.mark.parametrize("case", OTHERS)
def test_an_older_release_says_what_to_load(tmp_path: Path, switch: FakeSonic, case: str) -> None:
    """Once that is loaded, which goes past the updater, all of it can be set and undone."""
    switch.build = "202311.1-x"
    switch.tables["WRED_PROFILE"]["AZURE_LOSSLESS"] = AZURE_LOSSLESS
    switch.tables |= OTHERS[case]
    priorities = TWO if case == "two markings" else LOSSLESS
    asked = wanted("sonic", ("Ethernet4",), switch_priorities=priorities)
    state = copy.deepcopy(switch.tables)
    told = refusal(tmp_path, switch, asked)
    assert told.startswith("tor: got changes of WRED_PROFILE for SONiC 202311, whose updater refuses them")
    assert (switch.tables, switch.patches) == (state, [])
    load = json.loads(told.partition("says more): ")[2])
    for table, entries in load.items():
        switch.tables.setdefault(table, {}).update(entries)
    switch.tables.get("QUEUE", {}).pop("Ethernet4|4", None)
    is_set_read_back_and_undone(tmp_path / "tor", switch, asked, lambda: copy.deepcopy(switch.tables))


def test_an_older_release_takes_no_new_headroom(tmp_path: Path, switch: FakeSonic) -> None:
    switch.build = "202505.1-x"
    switch.tables["WRED_PROFILE"]["AZURE_LOSSLESS"] = AZURE_LOSSLESS
    load = json.loads(refusal(tmp_path, switch, WANTED).partition("says more): ")[2])
    assert list(load) == ["BUFFER_PROFILE"]
    assert load["BUFFER_PROFILE"]["ROGUE_3"]["xoff"] == "35776"


def refusal(directory: Path, switch: FakeSonic, asked: HardwareSwitchVariables) -> str:
    """What `apply` says that has changed nothing, and remembers nothing."""
    with (
        served_switch(directory / "tor", switch) as served,
        open_switch(hardware(asked, served.login)) as opened,
    ):
        with pytest.raises(NodeError) as told:
            apply(opened, asked)
        assert opened.ledger.changes() == []
    return str(told.value)


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


@pytest.mark.parametrize(("alpha", "exponent"), [(None, "0"), (2, "1"), (1 / 16, "-4"), (1 / 256, "-8")])
def test_alpha_is_an_exponent_of_two(alpha: float | None, exponent: str) -> None:
    """`dynamic_th` n: a group may hold 2^n times what is free; 1/16 is -4."""
    settings = {"pauses": True, "headroom_bytes": 35_776, "pause_alpha": alpha}
    variables = wanted("sonic", switch_priorities={"3": settings})
    assert Sonic().mistake(variables) is None
    assert wanted_tables(variables)["BUFFER_PROFILE"]["ROGUE_3"]["dynamic_th"] == exponent


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"headroom_bytes": 9, "pause_alpha": 0.3}, f"0.3, {POWER}"),
        ({"headroom_bytes": 9, "pause_alpha": 1 / 512}, f"0.00195312, {POWER}"),
        ({"pause_alpha": 0.5}, "0.5 without headroom_bytes, expected both, which are one profile"),
    ],
)  # fmt: skip
def test_an_alpha_that_no_profile_has(settings: dict[str, float], words: str) -> None:
    told = Sonic().mistake(wanted("sonic", switch_priorities={"3": {"pauses": True, **settings}}))
    assert told == f"priority 3: got pause_alpha {words}"
    marks = {"from_bytes": 1, "to_bytes": 1, "probability": 0.005}
    told = Sonic().mistake(wanted("sonic", switch_priorities={"3": {"marks": marks}}))
    assert told == "priority 3: got probability 0.005, expected whole percent, such as 0.01"


@pytest.mark.parametrize("reply", ["", "SONiC: 202511\n", '{"PORT": {"Ethernet0"', "{} {}"])
def test_a_reply_that_is_not_whole_is_a_sentence(reply: str) -> None:
    with pytest.raises(NodeError, match="expected SONiC's configuration as JSON; log in and look"):
        Sonic().configuration(reply)
