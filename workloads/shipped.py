"""Where the experiments and playbooks stand that come with this package."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
IN_WHEEL: Final = "rogue_shipped"
"""An installed package has them in a folder of their own beside its packages, a checkout beside these."""


def shipped(name: str, root: Path = ROOT) -> Path:
    """The folder `experiments` or `playbooks`."""
    installed = root / IN_WHEEL / name
    return installed if installed.is_dir() else root / name
