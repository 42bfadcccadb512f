"""Files of known hosts, read with bounds: an inventory names them, and it may be somebody else's."""

import os
import stat
from pathlib import Path
from typing import Final

import paramiko

from rogue.remote.errors import NodeError

BYTES_MAX: Final = 16_000_000
"""Some hundred thousand hosts."""


def keys_in(path: Path, host: str) -> dict[str, paramiko.PKey]:
    """Keys of a host in a file, the first of each kind; lines that are none are passed over, as OpenSSH does.

    `host` is named as `known_hosts` does: an address, or `[address]:port`. Names of other hosts are
    compared, and no more. NodeError if it is no file, or larger than any.
    """
    found: dict[str, paramiko.PKey] = {}
    for line in _text_of(path).splitlines():
        names, _, rest = line.strip().partition(" ")
        if any(_is(each, host) for each in names.split(",")) and (key := _key_of(f"{host} {rest}")):
            found.setdefault(key.get_name(), key)
    return found


def _is(name: str, host: str) -> bool:
    """Whether a name of a line is the host's, perhaps hashed: `|1|salt|hash`, both in base64."""
    if not name.startswith("|1|"):
        return name == host
    try:
        return paramiko.HostKeys.hash_host(host, name) == name
    except (ValueError, AssertionError):
        return False


def _key_of(line: str) -> paramiko.PKey | None:
    try:
        entry = paramiko.hostkeys.HostKeyEntry.from_line(line)
    except (paramiko.SSHException, paramiko.hostkeys.InvalidHostKey, ValueError):
        return None
    return None if entry is None else entry.key


def _text_of(path: Path) -> str:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        content = stream.read(BYTES_MAX + 1) if is_file else b""
    if not is_file or len(content) > BYTES_MAX:
        raise NodeError(f"{path}: got no file of known hosts, expected one of up to {BYTES_MAX} bytes.")
    return content.decode("utf-8", "replace")
