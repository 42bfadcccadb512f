"""Plan, apply, check and undo the configuration of one hardware switch."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from rogue.harness.provisioning.switches.change import Change, Configuration, sentences
from rogue.harness.provisioning.switches.platform import Command, Platform, load_platform
from rogue.harness.provisioning.switches.readback import SwitchState
from rogue.harness.provisioning.switches.settings import HardwareSwitch, HardwareSwitchVariables
from rogue.remote.connection import Connection, connect
from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.login import Login
from rogue.remote.terminal import REPLY_LIMIT_S, Secrets, Terminal, open_terminal

PASSWORD: Final = "ROGUE_SWITCH_PASSWORD"
ENABLE: Final = "ROGUE_SWITCH_ENABLE"
"""Environment variables with passwords; no file and no inventory has them."""
CHANGE_LIMIT_S: Final = 600.0
"""For a command of a shell that changes a switch: SONiC's `config apply-patch` takes minutes."""
P = ParamSpec("P")
T = TypeVar("T")


def ledgers() -> Path:
    """Return the directory of ledgers: below $XDG_STATE_HOME, or ~/.local/state."""
    configured = os.environ.get("XDG_STATE_HOME")
    return (Path(configured) if configured else Path.home() / ".local/state") / "rogue" / "switches"


class Ledger:
    """The file with the changes of one switch that have not been undone, oldest first."""

    def __init__(self, directory: Path, place: str) -> None:
        self.file = directory / f"{place.replace('/', '_')}.json"

    def changes(self) -> list[Change]:
        """Return all changes; NodeError if the file is damaged."""
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
        """Add changes; a line that changes again keeps its first state."""
        kept = self.changes()
        for change in changes:
            earlier = next((old for old in kept if _continues(old, change)), None)
            if earlier is None:
                kept.append(change)
            else:
                again = Change(change.context, change.after, earlier.before, change.off, change.opens)
                kept[kept.index(earlier)] = again
        self.write(change for change in kept if change.after != change.before)

    def write(self, changes: Iterable[Change]) -> None:
        """Replace the changes; without any there is no file."""
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


def _continues(old: Change, new: Change) -> bool:
    """True if the new change begins where the old one ended."""
    return old.context == new.context and old.after == new.before and old.after is not None


@dataclass(frozen=True, slots=True)
class OpenSwitch:
    """A switch with a session to it."""

    node: str
    platform: Platform
    session: Connection | Terminal
    ledger: Ledger

    def configuration(self) -> Configuration:
        """Read the running configuration."""
        return self._named(self.platform.configuration, self.session.run(self.platform.data.read))

    def state(self, wanted: HardwareSwitchVariables) -> SwitchState:
        """Read marks, pauses, rates, MTUs and the buffer in numbers."""
        return self._named(self.platform.state, self.configuration(), self._ports(), wanted)

    def _ports(self) -> str:
        try:
            return self.session.run(self.platform.data.read_ports) if self.platform.data.read_ports else ""
        except RejectedError:
            return ""

    def changes(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Change]:
        """Return the changes to the requested settings; NodeError if the platform cannot make them."""
        return self._named(self.platform.changes, wanted, found)

    def commands(self, changes: Sequence[Change], found: Configuration) -> list[Command]:
        """Return the commands that make the changes; NodeError if the platform has none."""
        return self._named(self.platform.commands, changes, found)

    def _named(self, function: Callable[P, T], *arguments: P.args, **others: P.kwargs) -> T:
        """Call a function; prefix its NodeError with the switch's name."""
        try:
            return function(*arguments, **others)
        except NodeError as error:
            raise NodeError(f"{self.node}: {error}") from error

    def run(self, commands: Iterable[Command]) -> None:
        """Send commands, one after the other."""
        for command in commands:
            if isinstance(self.session, Connection):
                self.session.run(command.text, command.stdin, limit_s=CHANGE_LIMIT_S)
            else:
                self.session.run(command.text, command.stdin)


def plan(switch: OpenSwitch, wanted: HardwareSwitchVariables) -> list[Command]:
    """Return the commands that `apply` would send now."""
    found = switch.configuration()
    return switch.commands(switch.changes(wanted, found), found)


def plan_from_nothing(platform: Platform, wanted: HardwareSwitchVariables) -> list[Command]:
    """Return the commands that `apply` would send to a switch without settings."""
    return platform.commands(platform.changes(wanted, {}), {})


def differences(switch: OpenSwitch, wanted: HardwareSwitchVariables) -> list[str]:
    """Return a sentence for each difference from the requested settings."""
    return _sentences(switch, switch.changes(wanted, switch.configuration()))


def apply(switch: OpenSwitch, wanted: HardwareSwitchVariables) -> list[Command]:
    """Set the switch and read it back; return the commands.

    The changes are stored first. If the switch rejects a command, earlier commands are undone.
    NodeError if the platform has no command for a change, a command is rejected, the connection is lost,
    or the switch then shows other lines.
    """
    found = switch.configuration()
    changes = switch.changes(wanted, found)
    if not changes:
        return []
    commands = switch.commands(changes, found)
    earlier = switch.ledger.changes()
    switch.ledger.remember(changes)
    try:
        _make(switch, changes, commands)
    except RejectedError:
        switch.ledger.write(earlier)
        raise
    except NodeError as error:
        raise NodeError(
            f"{error}; the earlier settings are in {switch.ledger.file}; `rogue switch undo` puts them back"
        ) from error
    left = switch.changes(wanted, switch.configuration())
    if left:
        switch.ledger.write(_as_shown(switch.ledger.changes(), left))
        lines = _sentences(switch, left)
        raise NodeError("\n  ".join([f"{switch.node}: what is read back differs from what was set", *lines]))
    return commands


def undo(switch: OpenSwitch) -> list[Command]:
    """Restore the earlier settings, newest first, and read them back; return the commands.

    NodeError names lines that were not restored: the switch rejected them, or they have changed since.
    """
    remembered = switch.ledger.changes()
    found = switch.configuration()
    back = _reversed(remembered, found)
    commands = switch.commands(back, found)
    if back:
        _make(switch, back, commands)
        found = switch.configuration()
    left = [change for change in remembered if not _is_back(change, found)]
    switch.ledger.write(left)
    if left:
        lines = _sentences(switch, [change.reversed() for change in reversed(left)])
        advice = f"delete {switch.ledger.file} to leave the switch as it is"
        raise NodeError("\n  ".join([f"{switch.node}: not everything could be put back", *lines, advice]))
    return commands


def _make(switch: OpenSwitch, changes: Sequence[Change], commands: Sequence[Command]) -> None:
    """Send the commands of the changes; after a rejected command nothing is changed."""
    try:
        switch.run(commands)
    except RejectedError as error:
        _roll_back(switch, changes)
        raise RejectedError(f"{error}; what came before it was put back") from error


def _roll_back(switch: OpenSwitch, changes: Sequence[Change]) -> None:
    """Discard the changes after a rejected command, or undo those that are active."""
    data = switch.platform.data
    if data.abort:
        switch.run(map(Command, data.abort))
        return
    switch.run(map(Command, data.leave))
    found = switch.configuration()
    switch.run(switch.commands(_reversed(changes, found), found))


def _reversed(changes: Sequence[Change], found: Configuration) -> list[Change]:
    """Return changes that undo active lines, newest first; removing a mode removes its lines."""
    back = [change.reversed() for change in reversed(changes) if _is_made(change, found)]
    gone = {(*change.context, change.before) for change in back if change.after is None}
    return [
        change
        for change in back
        if not any(change.context[:depth] in gone for depth in range(1, len(change.context) + 1))
    ]


def _is_made(change: Change, found: Configuration) -> bool:
    """True if the new line of a change is in the configuration, or the removed line is not."""
    lines = found.get(change.context, ())
    return change.after in lines if change.after is not None else change.before not in lines


def _is_back(change: Change, found: Configuration) -> bool:
    """True if the earlier line is back; without an earlier line, true if ours is gone."""
    lines = found.get(change.context, ())
    return change.after not in lines if change.before is None else change.before in lines


def _as_shown(remembered: Iterable[Change], left: Iterable[Change]) -> list[Change]:
    """Return the changes with each line as the switch shows it, so that `undo` finds the line."""
    shown = {(change.context, change.after): change.before for change in left if change.before is not None}
    return [
        replace(change, after=shown.get((change.context, change.after), change.after))
        for change in remembered
    ]


def _sentences(switch: OpenSwitch, changes: Iterable[Change]) -> list[str]:
    return [f"{switch.node}: {words}" for words in sentences(changes)]


@contextmanager
def open_switch(switch: HardwareSwitch, *, limit_s: float = REPLY_LIMIT_S) -> Iterator[OpenSwitch]:
    """Log in for a context; NodeError if that fails."""
    assert switch.login is not None, "a declared switch has no login"
    platform = load_platform(switch.variables.switch_platform)
    ledger = Ledger(ledgers(), _name(switch.login))
    dialect = platform.data.command_line
    if dialect is None:
        with connect(switch.login, limit_s=limit_s) as connection:
            yield OpenSwitch(switch.name, platform, connection, ledger)
        return
    secrets = Secrets(os.environ.get(PASSWORD), os.environ.get(ENABLE))
    with open_terminal(switch.login, dialect, secrets, limit_s=limit_s) as terminal:
        yield OpenSwitch(switch.name, platform, terminal, ledger)


def _name(login: Login) -> str:
    """Return the name of a switch's file; the same address behind two jump hosts is two switches."""
    return login.place if login.gateway is None else f"{login.place} behind {_name(login.gateway)}"
