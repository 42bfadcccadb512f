"""Plan, apply, check and undo the configuration of one hardware switch."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from rogue.harness.provisioning.inventory import HardwareSwitch
from rogue.harness.provisioning.switches.change import Change, Configuration, sentences
from rogue.harness.provisioning.switches.platform import Command, Platform, Session
from rogue.harness.provisioning.switches.readback import SwitchState
from rogue.harness.provisioning.switches.registry import PLATFORMS
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables
from rogue.remote.connection import connect
from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.login import Login
from rogue.remote.terminal import REPLY_LIMIT_S, Secrets, open_terminal


def ledgers() -> Path:
    """The directory: below $XDG_STATE_HOME, or ~/.local/state."""
    configured = os.environ.get("XDG_STATE_HOME")
    return (Path(configured) if configured else Path.home() / ".local/state") / "rogue" / "switches"


class Ledger:
    """The changes of one switch that have not been undone, oldest first."""

    def __init__(self, directory: Path, place: str) -> None:
        self.file = directory / f"{place.replace('/', '_')}.json"

    def changes(self) -> list[Change]:
        """All of them; NodeError if the file is damaged."""
        if not self.file.is_file():
            return []
        try:
            entries = json.loads(self.file.read_text())
            return [Change(**{**entry, "context": tuple(entry["context"])}) for entry in entries]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise NodeError(
                f"{self.file}: got {error}, expected what was on a switch before; put the switch back by "
                "hand, then delete the file"
            ) from error

    def remember(self, changes: Iterable[Change]) -> None:
        """Add changes; of a line that is changed again, what was there at first stays written down."""
        kept = self.changes()
        for change in changes:
            earlier = next((old for old in kept if _is_about(old, change)), None)
            if earlier is None:
                kept.append(change)
            else:
                again = Change(change.context, change.after, earlier.before, change.off, change.opens)
                kept[kept.index(earlier)] = again
        self.write(change for change in kept if change.after != change.before)

    def write(self, changes: Iterable[Change]) -> None:
        """These are all; without any there is no file."""
        entries = [asdict(change) for change in changes]
        if not entries:
            self.file.unlink(missing_ok=True)
            return
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.file.with_suffix(".new")
        with draft.open("w") as stream:
            json.dump(entries, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(self.file)


def _is_about(old: Change, new: Change) -> bool:
    """Whether the new change begins where the old one ended."""
    return old.context == new.context and old.after == new.before and old.after is not None


@dataclass(frozen=True, slots=True)
class OpenSwitch:
    """A switch with a session to it."""

    node: str
    platform: Platform
    session: Session
    ledger: Ledger

    def configuration(self) -> Configuration:
        """What stands there now."""
        reply = self.session.run(self.platform.read)
        with _named(self.node):
            return self.platform.configuration(reply)

    def standing(self, wanted: HardwareSwitchVariables) -> SwitchState:
        """What it has, in numbers."""
        found = self.configuration()
        with _named(self.node):
            return self.platform.standing(found, self._ports(), wanted)

    def _ports(self) -> str:
        if not self.platform.read_ports:
            return ""
        try:
            return self.session.run(self.platform.read_ports)
        except RejectedError:
            return ""

    def changes(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Change]:
        """What is not as wanted; NodeError if the platform cannot make it so."""
        with _named(self.node):
            return self.platform.changes(wanted, found)

    def orders(self, changes: Sequence[Change], found: Configuration) -> list[Command]:
        """What makes the changes; NodeError if the platform has no way to them."""
        with _named(self.node):
            return _orders(self.platform, changes, found)

    def run(self, commands: Iterable[Command]) -> None:
        """One after the other."""
        for command in commands:
            _run(self.session, command)


def plan(switch: OpenSwitch, wanted: HardwareSwitchVariables) -> list[Command]:
    """Everything that `apply` would tell the switch now; nothing if it is as wanted."""
    found = switch.configuration()
    return switch.orders(switch.changes(wanted, found), found)


def plan_from_nothing(platform: Platform, wanted: HardwareSwitchVariables) -> list[Command]:
    """What `apply` would tell a switch on which none of it stands."""
    return _orders(platform, platform.changes(wanted, {}), {})


def differences(switch: OpenSwitch, wanted: HardwareSwitchVariables) -> list[str]:
    """Where the switch is not as wanted, a sentence each."""
    return _sentences(switch, switch.changes(wanted, switch.configuration()))


def apply(switch: OpenSwitch, wanted: HardwareSwitchVariables) -> list[Command]:
    """Make the switch as wanted and read that back; what it was told.

    What was there is written down before anything is changed. When the switch rejects a command, what came
    before it is put back. NodeError if the platform has no way to it, if a command was rejected, if the
    connection is lost, or if what is read back differs.
    """
    found = switch.configuration()
    changes = switch.changes(wanted, found)
    if not changes:
        return []
    orders = switch.orders(changes, found)
    earlier = switch.ledger.changes()
    switch.ledger.remember(changes)
    try:
        _make(switch, changes, orders)
    except RejectedError:
        switch.ledger.write(earlier)
        raise
    except NodeError as error:
        raise NodeError(
            f"{error}; what was there before stands in {switch.ledger.file}, and `rogue switch undo` puts it "
            "back"
        ) from error
    left = switch.changes(wanted, switch.configuration())
    if left:
        switch.ledger.write(_as_shown(switch.ledger.changes(), left))
        lines = _sentences(switch, left)
        raise NodeError("\n  ".join([f"{switch.node}: what is read back differs from what was set", *lines]))
    return orders


def undo(switch: OpenSwitch) -> list[Command]:
    """Put back what was there before, newest first, and read that back; what the switch was told.

    NodeError names what is not back: what the switch did not take, and what somebody else has changed since.
    """
    remembered = switch.ledger.changes()
    found = switch.configuration()
    back = _reversed(remembered, found)
    orders = switch.orders(back, found) if back else []
    if back:
        _make(switch, back, orders)
        found = switch.configuration()
    left = [change for change in remembered if not _is_back(change, found)]
    switch.ledger.write(left)
    if left:
        lines = _sentences(switch, [change.reversed() for change in reversed(left)])
        advice = f"delete {switch.ledger.file} to leave the switch as it is"
        raise NodeError("\n  ".join([f"{switch.node}: not everything could be put back", *lines, advice]))
    return orders


@contextmanager
def _named(node: str) -> Iterator[None]:
    """Say which switch it is."""
    try:
        yield
    except NodeError as error:
        raise NodeError(f"{node}: {error}") from error


def _orders(platform: Platform, changes: Sequence[Change], found: Configuration) -> list[Command]:
    if not changes:
        return []
    begin, end = (tuple(map(Command, texts)) for texts in (platform.begin, platform.end))
    return [*begin, *platform.commands(changes, found), *end]


def _make(switch: OpenSwitch, changes: Sequence[Change], orders: Sequence[Command]) -> None:
    """Give the orders that make the changes; after a rejected one nothing is changed."""
    try:
        switch.run(orders)
    except RejectedError as error:
        _back(switch, changes)
        raise RejectedError(f"{error}; what came before it was put back") from error


def _back(switch: OpenSwitch, changes: Sequence[Change]) -> None:
    """After a rejected command: forget the changes, or make those undone that count already."""
    platform = switch.platform
    if platform.abort:
        switch.run(map(Command, platform.abort))
        return
    switch.run(Command(text) for text in platform.leave)
    found = switch.configuration()
    back = _reversed(changes, found)
    switch.run(switch.orders(back, found))


def _reversed(changes: Sequence[Change], found: Configuration) -> list[Change]:
    """The commands that undo the active lines, newest first; leaving a mode removes its lines."""
    back = [change.reversed() for change in reversed(changes) if _stands(change.after, change, found)]
    gone = {(*change.context, change.before) for change in back if change.after is None}
    return [
        change
        for change in back
        if not any(change.context[:depth] in gone for depth in range(1, len(change.context) + 1))
    ]


def _stands(text: str | None, change: Change, found: Configuration) -> bool:
    """Whether a line of a change is in the configuration; for a removal, whether the old line is gone."""
    lines = found.get(change.context, ())
    return text in lines if text is not None else change.before not in lines


def _is_back(change: Change, found: Configuration) -> bool:
    """Whether the earlier line is back; if there was none, whether ours is gone."""
    lines = found.get(change.context, ())
    return change.after not in lines if change.before is None else change.before in lines


def _as_shown(remembered: Iterable[Change], left: Iterable[Change]) -> list[Change]:
    """The changes with each line as the switch shows it, so that `undo` finds it."""
    shown = {(change.context, change.after): change.before for change in left if change.before is not None}
    return [
        replace(change, after=shown.get((change.context, change.after), change.after))
        for change in remembered
    ]


def _sentences(switch: OpenSwitch, changes: Iterable[Change]) -> list[str]:
    return [f"{switch.node}: {words}" for words in sentences(changes)]


def _run(session: Session, command: Command) -> None:
    if command.stdin:
        session.run(command.text, command.stdin)
    else:
        session.run(command.text)


PASSWORD: Final = "ROGUE_SWITCH_PASSWORD"
ENABLE: Final = "ROGUE_SWITCH_ENABLE"
"""Variables of the environment; no file and no inventory has them."""


@contextmanager
def open_switch(switch: HardwareSwitch, *, limit_s: float = REPLY_LIMIT_S) -> Iterator[OpenSwitch]:
    """Log in; NodeError says why that failed."""
    assert switch.login is not None, "a declared switch is not logged in to"
    platform = PLATFORMS[switch.variables.switch_platform]
    ledger = Ledger(ledgers(), _name(switch.login))
    if platform.dialect is None:
        with connect(switch.login, limit_s=limit_s) as shell:
            yield OpenSwitch(switch.name, platform, shell, ledger)
        return
    secrets = Secrets(os.environ.get(PASSWORD), os.environ.get(ENABLE))
    with open_terminal(switch.login, platform.dialect, secrets, limit_s=limit_s) as terminal:
        yield OpenSwitch(switch.name, platform, terminal, ledger)


def _name(login: Login) -> str:
    """What a switch is remembered by: behind two jump hosts the same address is two switches."""
    return login.place if login.gateway is None else f"{login.place} behind {_name(login.gateway)}"
