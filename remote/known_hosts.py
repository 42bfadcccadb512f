"""Files of known hosts, read with bounds: an inventory names them, and it may be somebody else's."""

import os
import stat
from pathlib import Path
from typing import Final

import paramiko

from rogue.remote.errors import NodeError

BYTES_MAX: Final = 16_000_000
"""Some hundred thousand hosts."""


def load_known_hosts(known: paramiko.HostKeys, path: Path) -> None:
    """Add the hosts of a file to those that are known; lines that are none are passed over, as OpenSSH does.

    NodeError if it is no file, or larger than any.
    """
    seen = {(name, kind) for name, keys in known.items() for kind in keys}
    for number, line in enumerate(_text_of(path).splitlines(), start=1):
        for name, key in _hosts_of(line.strip(), number):
            if (name, key.get_name()) not in seen:
                seen.add((name, key.get_name()))
                known.add(name, key.get_name(), key)


def _hosts_of(line: str, number: int) -> list[tuple[str, paramiko.PKey]]:
    if not line or line.startswith("#"):
        return []
    try:
        entry = paramiko.hostkeys.HostKeyEntry.from_line(line, number)
    except (paramiko.SSHException, paramiko.hostkeys.InvalidHostKey, ValueError):
        return []
    return [] if entry is None or entry.key is None else [(name, entry.key) for name in entry.hostnames]


def _text_of(path: Path) -> str:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        content = stream.read(BYTES_MAX + 1) if is_file else b""
    if not is_file or len(content) > BYTES_MAX:
        raise NodeError(f"{path}: got no file of known hosts, expected one of up to {BYTES_MAX} bytes.")
    return content.decode("utf-8", "replace")
