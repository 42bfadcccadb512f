"""Where the experiments and playbooks stand that come with this package."""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[1]
CHECKOUT: Final = PACKAGE.parents[1]
"""The top of the checkout this code runs from; of an installed package a place that is none."""


def shipped(name: str, package: Path = PACKAGE) -> Path:
    """The folder `experiments` or `playbooks` itself, to which a checkout's package has a link."""
    return (package / name).resolve()
