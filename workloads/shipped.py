"""Folders of the experiments and playbooks that come with this package."""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[1]
CHECKOUT: Final = PACKAGE.parents[1]
"""The top of the checkout; in an installed package not a checkout."""


def shipped(name: str, package: Path = PACKAGE) -> Path:
    """Return the folder `experiments` or `playbooks`, to which a checkout's package has a link."""
    return (package / name).resolve()
