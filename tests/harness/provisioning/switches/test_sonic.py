"""SONiC: patches of its configuration database (RFC 6902) that a release accepts."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers.fake_shell_switches import BUFFER, EVERY, NEW, OTHER, PLAIN, SIZE, TABLE, YELLOW, FakeSonic
from helpers.fake_switch import LOSSLESS, hardware, served_switch, wanted
from helpers.stand_in_switches import STAND_INS

from rogue.harness.provisioning.switches.change import Change
from rogue.harness.provisioning.switches.database import is_refused
from rogue.harness.provisioning.switches.operations import apply, open_switch, plan_from_nothing, undo
from rogue.harness.provisioning.switches.platform import load_platform
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables
from rogue.remote.connection import REPLY_LIMIT_S, Connection
from rogue.remote.errors import NodeError

WANTED = STAND_INS["sonic"].wanted
SONIC = load_platform("sonic")
MARKS_ALONE = wanted("sonic", ("Ethernet0", "Ethernet4"))


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSonic:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    made: FakeSonic = STAND_INS["sonic"].make()
    return made


def patches(directory: Path, switch: FakeSonic, requested: HardwareSwitchVariables) -> list[dict[str, Any]]:
    """Set a switch, put it back as it was, and return the operations of the first patch."""
    before = copy.deepcopy(switch.tables)
    with (
        served_switch(directory / "tor", switch) as served,
        open_switch(hardware(requested, served.login)) as opened,
    ):
        apply(opened, requested)
        assert apply(opened, requested) == []
        undo(opened)
    assert switch.tables == before
    return switch.patches[0]


def refusal(directory: Path, switch: FakeSonic, requested: HardwareSwitchVariables) -> str:
    """Return the error of an `apply` that changes and stores nothing."""
    before = copy.deepcopy(switch.tables)
    with (
        served_switch(directory / "tor", switch) as served,
        open_switch(hardware(requested, served.login)) as opened,
    ):
        with pytest.raises(NodeError) as raised:
            apply(opened, requested)
        assert (opened.ledger.changes(), switch.tables, switch.patches) == ([], before, [])
    return str(raised.value)


def test_patch_may_take_minutes(tmp_path: Path, switch: FakeSonic, monkeypatch: pytest.MonkeyPatch) -> None:
    limits_s: dict[str, float] = {}
    run = Connection.run

    def noted(node: Connection, command: str, text: str = "", *, limit_s: float = REPLY_LIMIT_S) -> str:
        limits_s[command] = limit_s
        return run(node, command, text, limit_s=limit_s)

    monkeypatch.setattr(Connection, "run", noted)
    patches(tmp_path, switch, MARKS_ALONE)
    assert limits_s["sudo config apply-patch /dev/stdin"] == 600.0


def test_patch_keeps_fields_of_others(tmp_path: Path, switch: FakeSonic) -> None:
    switch.tables["QUEUE"]["Ethernet4|4"]["others"] = ["a b", 1]
    made = {each["path"]: each for each in patches(tmp_path, switch, WANTED)}
    assert made["/QUEUE/Ethernet4|4/wred_profile"] == {
        "op": "remove",
        "path": "/QUEUE/Ethernet4|4/wred_profile",
    }
    assert made["/BUFFER_PROFILE/ROGUE_3"]["value"]["xoff"] == "35776"
    ports = {path.rpartition("/")[2]: each["value"] for path, each in made.items() if "/Ethernet4/" in path}
    maps = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map")
    assert ports == {**dict.fromkeys(maps, "ROGUE"), "pfc_enable": "3"}


def test_ranges_are_split_and_restored(tmp_path: Path, switch: FakeSonic) -> None:
    switch.tables["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"] = {"pool": "ingress_lossless_pool"}
    group = {"profile": "pg_lossless_100000_5m_profile"}
    switch.tables["BUFFER_PG"] = {"Ethernet0|3-4": group, "Ethernet4|0": group, "Ethernet4|4-6": group}
    del switch.tables["QUEUE"]["Ethernet4|4"]
    switch.tables["QUEUE"]["Ethernet4|2-3"] = {"scheduler": "scheduler.1", "wred_profile": "AZURE"}
    made = patches(tmp_path, switch, WANTED)
    assert [each for each in made if each["path"].startswith("/BUFFER_PG/")] == [
        {"op": "remove", "path": "/BUFFER_PG/Ethernet0|3-4"},
        {"op": "add", "path": "/BUFFER_PG/Ethernet0|3", "value": {"profile": "ROGUE_3"}},
        {"op": "add", "path": "/BUFFER_PG/Ethernet0|4", "value": group},
        {"op": "add", "path": "/BUFFER_PG/Ethernet4|3", "value": {"profile": "ROGUE_3"}},
    ]
    queues = {each["path"]: each.get("value") for each in made if "/Ethernet4|" in each["path"]}
    assert queues["/QUEUE/Ethernet4|2"] == {"scheduler": "scheduler.1"}
    assert queues["/QUEUE/Ethernet4|3"] == {"scheduler": "scheduler.1", "wred_profile": "ROGUE_3"}


def test_entry_without_a_number_or_range_is_refused(tmp_path: Path, switch: FakeSonic) -> None:
    found = SONIC.configuration(json.dumps({"QUEUE": {"Ethernet0|3,4": {"scheduler": "a"}}}))
    with pytest.raises(NodeError, match=r"got QUEUE\|Ethernet0\|3,4, expected a number or a range"):
        SONIC.changes(WANTED, found)


def test_a_name_with_a_slash_is_escaped() -> None:
    (command,) = plan_from_nothing(SONIC, wanted("sonic", ("Ethernet1/1", "Ethernet1/2")))
    assert '"path": "/QUEUE/Ethernet1~12|3"' in command.stdin


@pytest.mark.parametrize(("alpha", "exponent"), [(None, "0"), (2, "1"), (1 / 16, "-4"), (1 / 256, "-8")])
def test_alpha_is_an_exponent_of_two(alpha: float | None, exponent: str) -> None:
    """`dynamic_th` n: a group may hold 2^n times what is free; 1/16 is -4."""
    settings = {"pauses": True, "headroom_bytes": 35_776, "pause_alpha": alpha}
    (command,) = plan_from_nothing(SONIC, wanted("sonic", switch_priorities={"3": settings}))
    assert f'"dynamic_th": "{exponent}"' in command.stdin


@pytest.mark.parametrize("reply", ["", "SONiC: 202511\n", '{"PORT": {"Ethernet0"', "{} {}"])
def test_incomplete_reply_is_an_error(reply: str) -> None:
    with pytest.raises(NodeError, match="expected the configuration as JSON; log in and look"):
        SONIC.configuration(reply)


@pytest.mark.parametrize("asics", [2, 6, 12])
def test_switch_with_several_chips_is_refused(tmp_path: Path, switch: FakeSonic, asics: int) -> None:
    switch.asics = asics
    message = refusal(tmp_path, switch, WANTED)
    assert message.startswith("tor: got a multi-ASIC SONiC, expected one with a single chip; ")


def test_ledger_of_an_earlier_version_is_an_error() -> None:
    change = Change(("PORT_QOS_MAP", "Ethernet0"), "pfc_enable 3,4", None, "")
    with pytest.raises(NodeError, match="got `pfc_enable 3,4`, expected its value as JSON; put the switch"):
        SONIC.commands([change], {})


OLD = [NEW, YELLOW, OTHER, BUFFER, TABLE, PLAIN, SIZE]


def release_refuses(build: str, operation: Mapping[str, Any]) -> bool:
    found = SONIC.configuration(f"SONiC Software Version: SONiC.{build}\n{{}}")
    return is_refused(SONIC.data.patch_allows, found, f"{operation['op']} {operation['path']}")


@pytest.mark.parametrize(
    ("build", "refused"),
    [
        ("202111", []),
        ("202205", OLD),
        ("20220531.27", OLD),
        ("202211", []),
        ("202305", OLD),
        ("202311.567841-3ab4e5f", OLD),
        ("202405", OLD),
        ("202411", OLD),
        ("202505", [NEW, YELLOW, BUFFER, TABLE, PLAIN, SIZE]),
        ("202511", [TABLE, SIZE]),
        ("master.812345-abc", [TABLE, SIZE]),
        ("HEAD.0-dirty-20240101", []),
        ("Enterprise_4.2.0", []),
        ("20231399", []),
    ],
)
def test_operations_that_a_release_refuses(build: str, refused: list[object]) -> None:
    assert [each for each in EVERY if release_refuses(build, each)] == refused


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
    made = patches(tmp_path, switch, MARKS_ALONE)
    place = "/WRED_PROFILE/AZURE_LOSSLESS/green_"
    assert [each for each in made if each["path"].startswith("/WRED_PROFILE")] == [
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
    """After `config load`, which bypasses the updater, everything can be set and undone."""
    switch.build = "202311.1-x"
    switch.tables["WRED_PROFILE"]["AZURE_LOSSLESS"] = AZURE_LOSSLESS
    switch.tables |= OTHERS[case]
    priorities = TWO if case == "two markings" else LOSSLESS
    requested = wanted("sonic", ("Ethernet4",), switch_priorities=priorities)
    message = refusal(tmp_path, switch, requested)
    assert message.startswith(
        "tor: got changes of WRED_PROFILE for release 202311, whose updater refuses them"
    )
    for table, entries in json.loads(message.partition("says more): ")[2]).items():
        switch.tables.setdefault(table, {}).update(entries)
    switch.tables.get("QUEUE", {}).pop("Ethernet4|4", None)
    patches(tmp_path, switch, requested)


def test_an_older_release_takes_no_new_headroom(tmp_path: Path, switch: FakeSonic) -> None:
    switch.build = "202505.1-x"
    switch.tables["WRED_PROFILE"]["AZURE_LOSSLESS"] = AZURE_LOSSLESS
    load = json.loads(refusal(tmp_path, switch, WANTED).partition("says more): ")[2])
    assert {table: list(entries) for table, entries in load.items()} == {"BUFFER_PROFILE": ["ROGUE_3"]}
