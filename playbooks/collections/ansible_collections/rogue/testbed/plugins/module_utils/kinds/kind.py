"""What every kind of change can do."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from ..system import System

Value = Any
"""Anything that JSON can hold."""
_INTERFACE = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_][A-Za-z0-9_.:-]{0,14}")


class Kind(ABC):
    """One kind of thing that provisioning changes on a node, such as a sysctl; each named by a key."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        """What is wrong with what is asked for, whatever the node is like; None if nothing is.

        Key and value become words of programs that root runs, lines that they read, and names of files.
        """
        return None

    @abstractmethod
    def observe(self, system: System, key: str) -> Value:
        """What is there now."""

    @abstractmethod
    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Make it so; called only if it is not."""

    @abstractmethod
    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Put back what was there before; must not mind if that is there already.

        after: what was there once it was established; None if that was never finished.
        """

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """Whether what is there is what is wanted, as far as one can tell without what was written down."""
        return bool(observed == wanted)

    def rebased(self, before: Value, after: Value, observed: Value) -> Value:
        """What counts as before when this is established once more; more than that if others changed it.

        after: what was left the last time, None if that was never finished; observed: what is there now.
        """
        return before

    def has_drifted(self, observed: Value, after: Value) -> bool:
        """Whether what is there differs from what was left, beyond what experiments change by themselves."""
        return bool(self.summary(observed) != self.summary(after))

    def refusal(self, key: str, observed: Value) -> str | None:
        """Why what is there must not be replaced, as it could not be put back; None if it may."""
        return None

    def called(self, key: str, observed: Value, wanted: Value) -> str:
        """What a change of this key is called where people look."""
        return key

    def summary(self, value: Value) -> Value:
        """The part of a value that is enough to compare and to show."""
        return value

    def kept(self, value: Value) -> Value:
        """The part of a value that is written down as what was there afterwards."""
        return self.summary(value)


class OfInterface(Kind):
    """A kind whose key is a network interface."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        """The key is the name of one."""
        if _INTERFACE.fullmatch(key):
            return None
        return f"interface {key!r}: expected its name, at most 15 letters and digits; correct the inventory"
