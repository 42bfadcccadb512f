from rogue.harness.provisioning.switches.change import (
    Change,
    Line,
    indented,
    line_with_key,
    requested_changes,
    sentences,
)

TEXT = """\
! a comment
hostname tor
interface Ethernet1
   mtu 9214
   !
   uc-tx-queue 3
      weight 1
interface Ethernet2
# another
end
"""


def test_contexts_are_told_by_indentation() -> None:
    assert indented(TEXT) == {
        (): ("hostname tor", "interface Ethernet1", "interface Ethernet2", "end"),
        ("interface Ethernet1",): ("mtu 9214", "uc-tx-queue 3"),
        ("interface Ethernet1", "uc-tx-queue 3"): ("weight 1",),
    }


def test_a_key_ends_where_a_word_ends() -> None:
    found = {(): ("qos map dscp 26 to 1", "qos map dscp 2")}
    assert line_with_key(found, (), "qos map dscp 2") == "qos map dscp 2"
    assert line_with_key(found, (), "qos map dscp 26") == "qos map dscp 26 to 1"
    assert line_with_key(found, ("elsewhere",), "qos") is None


def test_only_what_differs_changes_and_a_change_can_be_undone() -> None:
    found = {("port",): ("mtu 1500", "trust dscp")}
    lines = [
        Line(("port",), "mtu 9000", "mtu", "no mtu"),
        Line(("port",), "trust dscp", "trust", "no trust"),
        Line(("port",), "pause", "pause", "no pause"),
    ]
    changes = requested_changes(lines, found)
    assert [change.after for change in changes] == ["mtu 9000", "pause"]
    back = [change.reversed() for change in changes]
    assert [change.after or change.off for change in back] == ["mtu 1500", "no pause"]
    assert sentences(changes) == [
        "port: got `mtu 1500`, expected `mtu 9000`",
        "port: got nothing, expected `pause`",
    ]
    assert sentences([Change((), None, "lldp", "no lldp")]) == ["got `lldp`, expected nothing"]


def test_lines_of_a_place_and_places_alike_are_one_sentence() -> None:
    """What comes, what goes and what changes stay apart, and so does the top from what is below it."""
    ports = [(f"interface Ethernet{number}",) for number in (1, 2)]
    changes = [Change(port, line, None, f"no {line}") for port in ports for line in ("trust", "pause")]
    changes += [Change((), line, None, f"no {line}") for line in ("trust", "pause")]
    changes += [Change(("map", "a"), "1 1", "1 0", "no 1"), Change(("map", "a"), None, "2 2", "no 2")]
    assert sentences(changes) == [
        "interface Ethernet1, interface Ethernet2: got nothing, expected `trust`, `pause`",
        "got nothing, expected `trust`, `pause`",
        "map: a: got `1 0`, expected `1 1`",
        "map: a: got `2 2`, expected nothing",
    ]
