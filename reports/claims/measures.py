"""Identify the measures that judged a claim, so that verdicts of other measures are evaluated again."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

PLACES: Final = tuple(Path(__file__).parents[1] / name for name in ("cells", "metrics"))
"""The code that turns tables into numbers."""


@cache
def measures_sha256(places: tuple[Path, ...] = PLACES) -> str:
    """Return a digest of all measures."""
    digest = hashlib.sha256()
    for path in sorted(path for place in places for path in place.rglob("*.py")):
        digest.update(f"{path.parent.name}/{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
