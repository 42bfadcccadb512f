from rogue.harness.provisioning.switches.change import Change, Line, indented, standing, wanted_changes

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
    assert standing(found, (), "qos map dscp 2") == "qos map dscp 2"
    assert standing(found, (), "qos map dscp 26") == "qos map dscp 26 to 1"
    assert standing(found, ("elsewhere",), "qos") is None


def test_only_what_differs_changes_and_a_change_can_be_undone() -> None:
    found = {("port",): ("mtu 1500", "trust dscp")}
    lines = [
        Line(("port",), "mtu 9000", "mtu", "no mtu"),
        Line(("port",), "trust dscp", "trust", "no trust"),
        Line(("port",), "pause", "pause", "no pause"),
    ]
    changes = wanted_changes(lines, found)
    assert [change.command for change in changes] == ["mtu 9000", "pause"]
    assert [change.reversed().command for change in changes] == ["mtu 1500", "no pause"]
    assert changes[0].difference() == "port: got `mtu 1500`, expected `mtu 9000`"
    assert Change((), None, "lldp", "no lldp").difference() == "got `lldp`, expected nothing"
