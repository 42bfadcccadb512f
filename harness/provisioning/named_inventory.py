"""The inventory that a command names: a file, or a virtual testbed that is up."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

VIRTUAL: Final = "virtual"
TRUST: Final = "--trust-inventory"
"""The option without which no program is run to get an inventory."""


@dataclass(frozen=True, slots=True)
class NamedInventory:
    """An inventory as a person named it on the command line."""

    argument: str
    is_trusted: bool = False
    """Whether it may be a program, which is then run."""
    plugins: tuple[Path, ...] = ()
    """Files of code that were named beside it: they may bring the platforms of its switches."""

    @property
    def file(self) -> Path:
        """Where it is."""
        return inventory_file_of(self.argument)

    @property
    def words(self) -> tuple[str, ...]:
        """What to say on another command line to name it again."""
        trust = (TRUST,) if self.is_trusted else ()
        plugins = (word for file in self.plugins for word in ("--plugin", str(file)))
        return (self.argument, *trust, *plugins)


def is_virtual(argument: str) -> bool:
    """Whether it is a virtual testbed of this user's, and no file that somebody could have written."""
    return argument.partition(":")[0] == VIRTUAL


def inventory_file_of(argument: str) -> Path:
    """The file of what a person calls an inventory: `virtual`, `virtual:NAME`, or a path."""
    kind, _, name = argument.partition(":")
    if kind != VIRTUAL:
        return Path(argument)
    from rogue.virtual import persistent

    return persistent.find(name or persistent.DEFAULT_NAME).inventory
