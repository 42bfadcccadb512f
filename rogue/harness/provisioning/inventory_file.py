"""What an inventory is called: a file, or a virtual testbed that is up."""

from pathlib import Path
from typing import Final

VIRTUAL: Final = "virtual"


def inventory_of(argument: str) -> Path:
    """The file of what a person calls an inventory: `virtual`, `virtual:NAME`, or a path."""
    kind, _, name = argument.partition(":")
    if kind != VIRTUAL:
        return Path(argument)
    from rogue.virtual import standing

    return standing.find(name or standing.DEFAULT_NAME).inventory
