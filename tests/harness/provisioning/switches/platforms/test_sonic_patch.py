"""Entries as lines and as patches. Source: RFC 6901 and RFC 6902."""

import pytest

from rogue.harness.provisioning.switches.change import Change
from rogue.harness.provisioning.switches.platforms.sonic_patch import (
    as_configuration,
    as_tables,
    changed,
    differences,
    patch,
    split_entries,
    split_ranges,
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
