"""The interface of a switch platform, and conversions of its units."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Protocol

from rogue.harness.provisioning.switches.change import (
    Change,
    Configuration,
    Context,
    Line,
    indented,
    wanted_changes,
)
from rogue.harness.provisioning.switches.readback import SwitchState
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables
from rogue.remote.login import Dialect


@dataclass(frozen=True, slots=True)
class Command:
    """The commands to a switch."""

    text: str
    stdin: str = ""
    """What a program on the switch reads."""

    def __str__(self) -> str:
        return f"{self.text} <<\n{self.stdin}" if self.stdin else self.text


class Session(Protocol):
    """An open connection to a switch: its command line, or a shell on it."""

    def run(self, command: str, text: str = "") -> str:
        """What it says; RejectedError, or NodeError if it is gone."""


class Platform(ABC):
    """One vendor's system."""

    name: ClassVar[str]
    dialect: ClassVar[Dialect | None] = None
    """None: an ordinary shell, whose exit codes say what failed."""
    read: ClassVar[str]
    """The command that shows the whole configuration that is in force."""
    begin: ClassVar[tuple[str, ...]] = ()
    """Before the first change."""
    end: ClassVar[tuple[str, ...]] = ()
    """After the last; where `abort` is given, only this makes the changes count."""
    abort: ClassVar[tuple[str, ...]] = ()
    """Forget all changes since `begin`; empty where each change counts at once."""
    up: ClassVar[str] = "exit"
    """From a mode to the one above it."""
    leave: ClassVar[tuple[str, ...]] = ()
    """After a rejected command, from whatever mode: back to where `begin` can be said."""
    sets_pause_alpha: ClassVar[bool] = False
    """Whether it can be told when to pause."""
    read_ports: ClassVar[str] = ""
    """The command that shows rates and MTUs of ports, where the configuration does not."""

    @abstractmethod
    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """What of it this platform cannot do, as `got ..., expected ...`; None if nothing."""

    @abstractmethod
    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """What should stand in the configuration, in an order that the switch takes."""

    def lines_on(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Line]:
        """The same, for platforms on which what stands there decides between two ways."""
        del found
        return self.lines(wanted)

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """What its ports have, in numbers: of most platforms none are read.

        ports: the reply to `read_ports`; empty if the switch rejected it.
        """
        del ports, wanted
        return SwitchState(configuration=found)

    @abstractmethod
    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """Whether a line marks, or pauses, on one of the interfaces; it goes where it is not wanted."""

    def off(self, line: str) -> str:
        """The command that takes away a line that is not wanted."""
        return f"no {line}"

    def configuration(self, text: str) -> Configuration:
        """What the reply to `read` says."""
        return indented(text)

    def changes(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Change]:
        """From what stands there to what is wanted: what should not stand there goes first."""
        lines = self.lines_on(wanted, found)
        keys: dict[Context, tuple[str, ...]] = {}
        for line in lines:
            keys[line.context] = (*keys.get(line.context, ()), line.key)
        extra = [
            Change(context, None, text, self.off(text))
            for context, texts in found.items()
            for text in texts
            if self.owns(context, text, wanted.interfaces)
            and not any(text == key or text.startswith(f"{key} ") for key in keys.get(context, ()))
        ]
        return [*extra, *wanted_changes(lines, found)]

    def commands(self, changes: Iterable[Change], found: Configuration) -> list[Command]:
        """What makes these changes, in their order."""
        del found
        return [Command(text) for text in _in_contexts(changes, self.up)]


def _in_contexts(changes: Iterable[Change], up: str) -> Iterator[str]:
    """Enter each context, say its lines and leave it."""
    for context, group in groupby(changes, key=lambda change: change.context):
        yield from context
        for change in group:
            yield change.command
            if change.opens and change.after is not None:
                yield up
        yield from [up] * len(context)


def whole_percent(probability: float) -> int:
    """A probability, where only whole percent can be said."""
    return round(100 * probability)


def percent_mistake(probability: float) -> str | None:
    """Why a probability is no whole percent; None if it is one."""
    if abs(100 * probability - whole_percent(probability)) < 1e-9 and whole_percent(probability) >= 1:
        return None
    return f"got probability {probability:g}, expected whole percent, such as 0.01"


def kilobytes_mistake(count_bytes: int, unit_bytes: int) -> str | None:
    """Why bytes are no whole number of a vendor's kilobytes; None if they are."""
    if count_bytes % unit_bytes == 0:
        return None
    return f"got {count_bytes} bytes, expected a multiple of {unit_bytes}"
