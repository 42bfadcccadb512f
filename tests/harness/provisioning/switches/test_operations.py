"""Plan, apply, check, undo: what goes wrong on the way, on a switch with a session for its changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.fake_eos import FakeEos
from helpers.fake_switch import Cli, hardware, served_switch, wanted

from rogue.harness.provisioning.switches.operations import OpenSwitch, apply, differences, open_switch, undo
from rogue.remote.errors import NodeError, RejectedError

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


def test_a_rejected_command_leaves_the_switch_as_it_was(tmp_path: Path) -> None:
    switch = FakeEos()
    before = switch.running.shown()
    switch.rejects = "uc-tx-queue 3"
    with opened(tmp_path, switch) as session:
        with pytest.raises(RejectedError) as told:
            apply(session, WANTED)
        assert str(told.value) == (
            "tor: `uc-tx-queue 3` was rejected: % Invalid input; what came before it was put back"
        )
        assert switch.heard[-1] == "abort"
        assert (switch.running.shown(), session.ledger.changes()) == (before, [])


def test_a_session_that_drops_leaves_written_down_what_was_there(tmp_path: Path) -> None:
    switch = FakeEos()
    before = switch.running.shown()
    switch.drops = "priority-flow-control on"
    with (
        served_switch(tmp_path / "tor", switch) as served,
        pytest.raises(NodeError, match=r"rogue switch undo` puts it back$") as told,
        open_switch(hardware(WANTED, served.login)) as session,
    ):
        file = session.ledger.file
        apply(session, WANTED)
    assert str(file) in str(told.value)
    assert (switch.running.shown(), file.is_file()) == (before, True)
    with served_switch(tmp_path / "tor", switch) as served:
        again = hardware(WANTED, served.login)
        with open_switch(again) as session:
            session.ledger.write(type(session.ledger)(file.parent, file.stem).changes())
            assert undo(session) == [], "nothing had come to count"
            assert session.ledger.changes() == []
            apply(session, WANTED)
            assert differences(session, WANTED) == []


def test_what_the_switch_says_afterwards_counts(tmp_path: Path) -> None:
    switch = FakeEos()
    switch.ignores = "qos trust dscp"
    with opened(tmp_path, switch) as session, pytest.raises(NodeError) as told:
        apply(session, WANTED)
    assert str(told.value).splitlines() == [
        "tor: what is read back differs from what was set",
        "  tor: interface Ethernet1, interface Ethernet2: got nothing, expected `qos trust dscp`",
    ]


class Rounding(FakeEos):
    """Shows the thresholds that it was told in another unit."""

    def execute(self, command: str) -> str:
        said = super().execute(command)
        return said.replace("150000 bytes", "150 kbytes") if command.startswith("show") else said


def test_what_the_switch_shows_differently_is_still_undone(tmp_path: Path) -> None:
    switch = Rounding()
    switch.running.open(QUEUE)
    switch.running.put(QUEUE, "random-detect ecn minimum-threshold", EARLIER)
    with opened(tmp_path, switch) as session:
        with pytest.raises(NodeError, match="what is read back differs"):
            apply(session, WANTED)
        assert undo(session) != []
        assert switch.running.modes[QUEUE] == {"random-detect ecn minimum-threshold": EARLIER}
        assert session.ledger.changes() == []


def test_what_somebody_else_has_changed_since_stays_and_is_told(tmp_path: Path) -> None:
    switch, others = FakeEos(), EARLIER.replace("100 weight", "55 weight")
    switch.running.open(QUEUE)
    switch.running.put(QUEUE, "random-detect ecn minimum-threshold", EARLIER)
    with opened(tmp_path, switch) as session:
        apply(session, WANTED)
        switch.running.put(QUEUE, "random-detect ecn minimum-threshold", others)
        with pytest.raises(NodeError, match=f"expected `{EARLIER}`") as told:
            undo(session)
        assert f"delete {session.ledger.file} to leave the switch as it is" in str(told.value)
        assert switch.running.modes[QUEUE] == {"random-detect ecn minimum-threshold": others}
        assert [change.before for change in session.ledger.changes()] == [EARLIER]


def test_what_the_switch_does_not_take_back_is_told(tmp_path: Path) -> None:
    switch = FakeEos()
    with opened(tmp_path, switch) as session:
        apply(session, WANTED)
        switch.ignores = "no qos trust dscp"
        with pytest.raises(NodeError) as told:
            undo(session)
        assert str(told.value).splitlines() == [
            "tor: not everything could be put back",
            "  tor: interface Ethernet2, interface Ethernet1: got `qos trust dscp`, expected nothing",
            f"  delete {session.ledger.file} to leave the switch as it is",
        ]
        assert len(session.ledger.changes()) == 2
        switch.ignores = None
        undo(session)
        assert session.ledger.changes() == []
