"""How to reach a node."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Login:
    """How to reach a node by SSH; its host key must stand in `known_hosts`."""

    node: str
    address: str
    port: int
    user: str
    key_file: Path | None
    """None: what the user's SSH agent and home directory offer."""
    known_hosts: Path
