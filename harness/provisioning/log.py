"""Where Ansible's whole output goes."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rogue.virtual.cache import cache_directory

LOGS: Final = cache_directory("provisioning")


def log_file(asked: Path | None, what: str) -> Path:
    """The file asked for, or one of its own for each call."""
    return asked or LOGS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{what}.log"
