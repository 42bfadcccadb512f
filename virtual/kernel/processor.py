"""A processor for each kernel that runs: its parts take turns, and a turn that changes processors is dear."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NAME: Final = "\0rogue-kernel-on-processor-"
"""The name of a socket without traffic. A name that begins with a null byte is in no file system. It belongs
to the whole computer and is free again when its holder ends. Source: unix(7), abstract."""


@contextmanager
def own_processor() -> Iterator[int | None]:
    """A processor that no other kernel has, of those that this process may use; None if there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as holder:
        yield next((each for each in sorted(os.sched_getaffinity(0)) if _takes(holder, each)), None)


def _takes(holder: socket.socket, processor: int) -> bool:
    """Whether no other process has it."""
    try:
        holder.bind(f"{_NAME}{processor}")
    except OSError:
        return False
    return True
