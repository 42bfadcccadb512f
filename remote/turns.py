"""Turns at a bastion: so many logins at once that its SSH server turns none away.

OpenSSH's server drops, at random, connections on which nobody has logged in yet, from the eleventh on.
Source: sshd_config(5), `MaxStartups`, default 10:30:100.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LOGINS_AT_ONCE: Final = 5
"""Half of the ten that a server takes from everybody: others log in there, too."""


class Turns:
    """Lets a few threads at once into each place; the others wait for as long as it takes."""

    def __init__(self, at_once: int = LOGINS_AT_ONCE) -> None:
        self._lock = threading.Lock()
        self._places: defaultdict[str, threading.Semaphore] = defaultdict(
            lambda: threading.Semaphore(at_once)
        )

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Inside, this thread is one of the few at a place."""
        with self._lock:
            semaphore = self._places[place]
        with semaphore:
            yield
