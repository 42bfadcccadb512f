"""Where the experiments and playbooks stand that come with this package."""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parents[1]


def shipped(name: str, package: Path = PACKAGE) -> Path:
    """The folder `experiments` or `playbooks`: an installed package has it inside, a checkout beside it."""
    installed = package / name
    return installed if installed.is_dir() else package.parent / name
