"""Tests: edit SONiC's configuration database as JSON patches that a release accepts."""

import pytest
from helpers.fake_sonic import BUFFER, EVERY, NEW, OTHER, PLAIN, SIZE, TABLE, YELLOW

from rogue.harness.provisioning.switches.change import Change
from rogue.harness.provisioning.switches.platforms.sonic_patch import (
    SYSTEM,
    as_configuration,
    as_tables,
    asics_of,
    changed,
    differences,
    forbids_profile_changes,
    is_refused,
    patch,
    release_of,
    split_entries,
    split_ranges,
    system_lines,
)
from rogue.remote.errors import NodeError

TABLES = {"QUEUE": {"Ethernet0|3": {"scheduler": "a b", "list": ["x", 1], "empty": ""}}}


def test_json_comes_back_as_it_was() -> None:
    lines = as_configuration({**TABLES, "bgpraw": "router bgp"})
    assert lines == {("QUEUE", "Ethernet0|3"): ('scheduler "a b"', 'list ["x", 1]', 'empty ""')}
    assert as_tables(lines) == TABLES


def test_what_an_earlier_version_remembered_is_no_traceback() -> None:
    with pytest.raises(NodeError, match="got `pfc_enable 3,4`, expected its value as JSON; put the switch"):
        changed({}, [Change(("PORT_QOS_MAP", "Ethernet0"), "pfc_enable 3,4", None, "")])


def test_a_patch_names_what_changes_alone() -> None:
    context = ("QUEUE", "Ethernet0|3")
    changes = [
        Change(context, 'wred_profile "A"', None, ""),
        Change(context, None, 'empty ""', ""),
        Change(context, 'scheduler "c"', 'scheduler "a b"', ""),
    ]
    after = changed(TABLES, changes)
    assert list(patch(TABLES, after, [context])) == [
        {"op": "replace", "path": "/QUEUE/Ethernet0|3/scheduler", "value": "c"},
        {"op": "remove", "path": "/QUEUE/Ethernet0|3/empty"},
        {"op": "add", "path": "/QUEUE/Ethernet0|3/wred_profile", "value": "A"},
    ]
    assert set(differences(TABLES, after, [context])) == set(changes)


def test_tables_come_and_go_with_their_entries() -> None:
    old, new = {"T": {"a/b": {"f": "1"}}}, {"U": {"c~": {"f": "1"}, "d": {"f": "2"}}}
    assert list(patch(old, new, [("T", "a/b"), ("U", "c~"), ("U", "d")])) == [
        {"op": "remove", "path": "/T"},
        {"op": "add", "path": "/U", "value": {"c~": {"f": "1"}}},
        {"op": "add", "path": "/U/d", "value": {"f": "2"}},
    ]
    assert list(patch({"T": {"a/b": {}, "~": {}}}, {"T": {"a/b": {}}}, [("T", "~")])) == [
        {"op": "remove", "path": "/T/~0"}
    ]


def test_only_ranges_that_hold_ours_are_split() -> None:
    before = {"BUFFER_PG": {"Ethernet0|3-4": {"profile": "A"}, "Ethernet0|5-6": {"profile": "B"}}}
    split = split_ranges(before, {"BUFFER_PG": {"Ethernet0|4": {}, "Ethernet4|5": {}}})
    assert split == {
        "BUFFER_PG": {
            "Ethernet0|5-6": {"profile": "B"},
            "Ethernet0|3": {"profile": "A"},
            "Ethernet0|4": {"profile": "A"},
        }
    }
    names = [entry for _, entry in split_entries(before, split)]
    assert names == ["Ethernet0|3-4", "Ethernet0|3", "Ethernet0|4"]


OLD = [NEW, YELLOW, OTHER, BUFFER, TABLE, PLAIN, SIZE]


@pytest.mark.parametrize(
    ("release", "refused"),
    [
        ("202111", []),
        ("202205", OLD),
        ("202211", []),
        ("202305", OLD),
        ("202311", OLD),
        ("202405", OLD),
        ("202411", OLD),
        ("202505", [NEW, YELLOW, BUFFER, TABLE, PLAIN, SIZE]),
        ("202511", [TABLE, SIZE]),
        ("", []),
    ],
)
def test_what_a_release_refuses(release: str, refused: list[object]) -> None:
    assert [each for each in EVERY if is_refused(release, each)] == refused
    assert forbids_profile_changes(release) == (NEW in refused)


@pytest.mark.parametrize(
    ("build", "release"),
    [
        ("202311.567841-3ab4e5f", "202311"),
        ("20231110.05", "202311"),
        ("202205", "202205"),
        ("master.812345-abc", "202511"),
        ("HEAD.0-dirty-20240101", ""),
        ("Enterprise_4.2.0", ""),
        ("20231399", ""),
    ],
)
def test_a_release_is_what_its_build_begins_with(build: str, release: str) -> None:
    text = f"\nSONiC Software Version: SONiC.{build}\nASIC: mellanox\nASIC Count: 6\n"
    found = {SYSTEM: system_lines(text)}
    assert (release_of(found), asics_of(found)) == (release, 6)


def test_a_switch_that_was_not_asked() -> None:
    assert (release_of({}), asics_of({}), system_lines("")) == ("", 1, ("release ", "asics 1"))
