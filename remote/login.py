"""How to reach a node, and how its command line talks where it is a switch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

SSH_PORT: Final = 22


@dataclass(frozen=True, slots=True)
class Login:
    """How to reach a node by SSH; its host key must stand in one of `known_hosts`."""

    node: str
    """What a sentence about it begins with."""
    address: str
    port: int
    user: str
    key_files: tuple[Path, ...]
    known_hosts: tuple[Path, ...]
    uses_agent: bool = False
    """Whether keys of the user's SSH agent are offered, after those in files."""
    host_key_alias: str = ""
    """What its key is filed under in `known_hosts`; by default its address and port."""
    gateway: Login | None = None
    """The host through which it is reached; None if directly."""
    name: str = ""
    """Of a jump host: what SSH on this computer calls it."""

    @property
    def place(self) -> str:
        """Address and TCP port, as in a file of known hosts."""
        return self.address if self.port == SSH_PORT else f"[{self.address}]:{self.port}"

    @property
    def filed_as(self) -> str:
        """The name under which files of known hosts have its key."""
        return self.host_key_alias or self.place


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a vendor's command line talks."""

    device_type: str
    """What netmiko calls it."""
    prompt: str
    """Regular expression of the end of a line on which it waits, in any mode."""
    rejection: str
    """Regular expression that only the reply to a wrong command matches."""
