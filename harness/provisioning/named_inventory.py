"""The inventory that a command names: a file, or a virtual testbed that is up."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

VIRTUAL: Final = "virtual"
TRUST: Final = "--trust-inventory"
"""The option without which no program is run to get an inventory."""


@dataclass(frozen=True, slots=True)
class NamedInventory:
    """An inventory as it was named on the command line."""

    argument: str
    is_trusted: bool = False
    """True if it may be a program, which is then run."""
    plugins: tuple[Path, ...] = ()
    """Plug-ins that were named beside it."""

    @property
    def file(self) -> Path:
        """Return its path."""
        return inventory_file_of(self.argument)

    @property
    def words(self) -> tuple[str, ...]:
        """Return the arguments that name it on another command line."""
        trust = (TRUST,) if self.is_trusted else ()
        plugins = (word for file in self.plugins for word in ("--plugin", str(file)))
        return (self.argument, *trust, *plugins)


def is_virtual(argument: str) -> bool:
    """True for a virtual testbed of this user, False for a file."""
    return argument.partition(":")[0] == VIRTUAL


def inventory_file_of(argument: str) -> Path:
    """Return the file of `virtual`, `virtual:NAME`, or a path."""
    kind, _, name = argument.partition(":")
    if kind != VIRTUAL:
        return Path(argument)
    from rogue.virtual import persistent

    return persistent.find(name or persistent.DEFAULT_NAME).inventory
