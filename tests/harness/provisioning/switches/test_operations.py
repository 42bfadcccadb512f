"""Tests: plan, apply, check and undo; lines of a configuration; findings of the doctor."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_agents import fake_inventory
from helpers.fake_command_lines import FakeEos
from helpers.fake_shell_switches import FakeSonic
from helpers.fake_switch import LOGIN, PASSWORD, Cli, hardware, served_switch, wanted

from rogue.harness.provisioning.doctor import switch_findings
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.switches import operations
from rogue.harness.provisioning.switches.change import (
    Change,
    Line,
    indented,
    requested_changes,
    sentences,
)
from rogue.harness.provisioning.switches.operations import (
    Ledger,
    OpenSwitch,
    apply,
    open_switch,
    undo,
)
from rogue.harness.provisioning.switches.settings import HardwareSwitch
from rogue.remote.errors import NodeError

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


def test_indentation_shows_contexts() -> None:
    assert indented(TEXT) == {
        (): ("hostname tor", "interface Ethernet1", "interface Ethernet2", "end"),
        ("interface Ethernet1",): ("mtu 9214", "uc-tx-queue 3"),
        ("interface Ethernet1", "uc-tx-queue 3"): ("weight 1",),
    }


def test_changes_cover_differing_lines_and_can_be_reversed() -> None:
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


def test_sentences_join_lines_of_a_place_and_equal_places() -> None:
    """Added, removed and changed lines have separate sentences, and so do lines of the top level."""
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


WANTED = wanted("eos")
QUEUE = ("interface Ethernet1", "uc-tx-queue 3")
EARLIER = (
    "random-detect ecn minimum-threshold 9 bytes maximum-threshold 9 bytes max-mark-probability 100 weight 0"
)


@contextmanager
def opened(directory: Path, switch: Cli) -> Iterator[OpenSwitch]:
    with (
        served_switch(directory, switch) as served,
        open_switch(hardware(WANTED, served.login)) as session,
    ):
        yield session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_line_missing_after_apply_is_an_error(tmp_path: Path) -> None:
    switch = FakeEos()
    switch.ignores = "qos trust dscp"
    with opened(tmp_path, switch) as session, pytest.raises(NodeError) as raised:
        apply(session, WANTED)
    assert str(raised.value).splitlines() == [
        "tor: what is read back differs from what was set",
        "  tor: interface Ethernet1, interface Ethernet2: got nothing, expected `qos trust dscp`",
    ]


class Rounding(FakeEos):
    """Shows thresholds in another unit than they were typed."""

    def execute(self, command: str) -> str:
        said = super().execute(command)
        return said.replace("150000 bytes", "150 kbytes") if command.startswith("show") else said


def test_undo_finds_lines_shown_in_another_unit(tmp_path: Path) -> None:
    switch = Rounding()
    switch.running.open(QUEUE)
    switch.running.put(QUEUE, "random-detect ecn minimum-threshold", EARLIER)
    with opened(tmp_path, switch) as session:
        with pytest.raises(NodeError, match="what is read back differs"):
            apply(session, WANTED)
        assert undo(session) != []
        assert switch.running.modes[QUEUE] == {"random-detect ecn minimum-threshold": EARLIER}
        assert session.ledger.changes() == []


def test_undo_keeps_and_reports_later_changes_of_others(tmp_path: Path) -> None:
    switch, others = FakeEos(), EARLIER.replace("100 weight", "55 weight")
    switch.running.open(QUEUE)
    switch.running.put(QUEUE, "random-detect ecn minimum-threshold", EARLIER)
    with opened(tmp_path, switch) as session:
        apply(session, WANTED)
        switch.running.put(QUEUE, "random-detect ecn minimum-threshold", others)
        with pytest.raises(NodeError, match=f"expected `{EARLIER}`") as raised:
            undo(session)
        assert f"delete {session.ledger.file} to leave the switch as it is" in str(raised.value)
        assert switch.running.modes[QUEUE] == {"random-detect ecn minimum-threshold": others}
        assert [change.before for change in session.ledger.changes()] == [EARLIER]


def test_undo_reports_lines_that_the_switch_keeps(tmp_path: Path) -> None:
    switch = FakeEos()
    with opened(tmp_path, switch) as session:
        apply(session, WANTED)
        switch.ignores = "no qos trust dscp"
        with pytest.raises(NodeError) as raised:
            undo(session)
        assert str(raised.value).splitlines() == [
            "tor: not everything could be put back",
            "  tor: interface Ethernet2, interface Ethernet1: got `qos trust dscp`, expected nothing",
            f"  delete {session.ledger.file} to leave the switch as it is",
        ]
        assert len(session.ledger.changes()) == 2
        switch.ignores = None
        undo(session)
        assert session.ledger.changes() == []


PORT = ("interface Ethernet1",)


def test_ledger_keeps_the_state_before_the_first_change(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "[127.0.0.1]:22")
    ledger.remember([Change(PORT, "mtu 2", "mtu 1", "no mtu"), Change((), "lldp", None, "no lldp")])
    ledger.remember([Change(PORT, "mtu 3", "mtu 2", "no mtu")])
    first = Change(PORT, "mtu 3", "mtu 1", "no mtu")
    assert Ledger(tmp_path, "[127.0.0.1]:22").changes() == [first, Change((), "lldp", None, "no lldp")]
    assert Ledger(tmp_path, "elsewhere").changes() == []
    ledger.remember([Change((), None, "lldp", "no lldp"), Change(PORT, "mtu 1", "mtu 3", "no mtu")])
    assert (ledger.changes(), ledger.file.exists()) == ([], False)


@pytest.mark.parametrize("text", ["{", "[1]", '[{"after": null}]', '{"a": 1}'])
def test_damaged_ledger_is_an_error(tmp_path: Path, text: str) -> None:
    ledger = Ledger(tmp_path, "tor")
    ledger.file.write_text(text)
    with pytest.raises(NodeError, match=r"tor\.json: got .*, expected what was on a switch before; put"):
        ledger.changes()


def test_jump_host_is_part_of_the_ledger_name() -> None:
    gates = [replace(LOGIN, address=name) for name in ("gate-a", "gate-b")]
    names = {operations._name(replace(LOGIN, gateway=gate)) for gate in (None, *gates)}
    assert names == {"127.0.0.1", "127.0.0.1 behind gate-a", "127.0.0.1 behind gate-b"}


def test_password_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served_switch(tmp_path / "tor", FakeEos(), has_key=False) as served:
        switch = hardware(WANTED, served.login)
        with pytest.raises(NodeError, match="export the password"), open_switch(switch):
            pytest.fail("accepted a login without a password")
        monkeypatch.setenv("ROGUE_SWITCH_PASSWORD", PASSWORD)
        with open_switch(switch) as session:
            assert ("interface Ethernet1" in session.configuration()[()], session.node) == (True, "tor")


PAUSES = wanted("eos", ("Ethernet1",), switch_priorities={"3": {"pauses": True}})


def rack(*switches: HardwareSwitch) -> Inventory:
    return replace(fake_inventory(), switch=None, hardware_switches=switches)


def test_differences_are_findings(tmp_path: Path) -> None:
    with served_switch(tmp_path / "tor", FakeEos()) as served:
        switch = hardware(PAUSES, served.login)
        assert [str(finding) for finding in switch_findings(rack(switch))] == [
            "refused: tor: interface Ethernet1: got nothing, expected `priority-flow-control on`, "
            "`priority-flow-control priority 3 no-drop`; run `rogue switch apply`, or declare the "
            "switch's settings."
        ]
        with open_switch(switch) as session:
            apply(session, PAUSES)
        assert switch_findings(rack(switch)) == []


def test_unreachable_switch_is_a_finding(tmp_path: Path) -> None:
    with served_switch(tmp_path / "tor", FakeEos()) as served:
        login = replace(served.login, known_hosts=(tmp_path / "missing",))
        (finding,) = switch_findings(rack(hardware(PAUSES, login)))
    place = f"[127.0.0.1]:{login.port}"
    assert str(finding).startswith(f"refused: tor: SSH: got no host key of {place}, expected one in ")


def test_unsupported_switch_is_a_finding(tmp_path: Path) -> None:
    with served_switch(tmp_path / "tor", FakeSonic(asics=2)) as served:
        (finding,) = switch_findings(rack(hardware(wanted("sonic"), served.login)))
    assert str(finding) == (
        "refused: tor: the switch: got a multi-ASIC SONiC, expected one with a single chip; set it yourself, "
        "and write `switch_platform: declared`."
    )


def test_declared_and_following_switches_are_not_compared() -> None:
    follows = wanted("eos", switch_follows_experiments=True, switch_priorities={"3": {"dscp": [26]}})
    assert switch_findings(rack(hardware(follows, LOGIN), hardware(wanted("declared"), None))) == []
