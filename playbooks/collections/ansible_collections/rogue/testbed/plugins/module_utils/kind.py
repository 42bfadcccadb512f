"""What a kind of setting does: observe, set and restore a value by its key."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from .system import System

Value = Any
"""Any value that JSON can hold."""
_INTERFACE = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_][A-Za-z0-9_.:-]{0,14}")


class Kind(ABC):
    """One kind of setting; the key of a setting is a network interface unless the kind says otherwise."""

    missing = "interface {}: not on this node; correct the inventory"

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Return why key or value is refused: both become arguments, lines and paths of root's programs."""
        if _INTERFACE.fullmatch(key):
            return None
        return f"interface: got {key!r}, expected at most 15 letters and digits; correct the inventory"

    def is_there(self, system: System, key: str) -> bool:
        """Return True if the node has the interface or the file."""
        return system.path(f"/sys/class/net/{key}").exists()

    def refusal(self, key: str, observed: Value) -> str | None:
        """Return why a setting that is not ours yet must not be replaced."""
        return None

    @abstractmethod
    def observe(self, system: System, key: str) -> Value:
        """Return the present value; None if there is no such setting."""

    @abstractmethod
    def set(self, system: System, key: str, wanted: Value) -> None:
        """Set the value."""

    @abstractmethod
    def restore(self, system: System, key: str, before: Value) -> None:
        """Set the value from before provisioning; the interface or file still exists."""

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        """Return True if nothing has to be set; by default if an earlier call left both values."""
        return bool(left == {"wanted": wanted, "observed": observed})

    def has_drifted(self, observed: Value, left: Value) -> bool:
        """Return True if the value differs from the one that was left, except where experiments change it."""
        return bool(observed != left)
