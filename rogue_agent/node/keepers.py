"""The keepers of an agent's cards: each is started for the first flow that takes turns there."""

import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Protocol

from rogue.agent.core.errors import SettingsError
from rogue.agent.node.messages import Prepare

_GRACE_S = 5.0


class Keeper(Protocol):
    """The process of a keeper."""

    @property
    def stdin(self) -> "IO[bytes] | None":
        """Its end is the keeper's."""

    @property
    def stdout(self) -> "IO[bytes] | None":
        """Nothing comes from there."""

    def kill(self) -> None:
        """End it at once."""

    def wait(self, timeout: "float | None" = None) -> int:
        """Return its exit code; raises subprocess.TimeoutExpired."""


@dataclass
class _Kept:
    process: Keeper
    terms: str
    roles: "set[str]" = field(default_factory=set)


class Keepers:
    """Knows which roles take turns where; `start` starts a keeper as a request tells."""

    def __init__(self, start: Callable[[Prepare], Keeper]) -> None:
        self._start = start
        self._kept: dict[str, _Kept] = {}

    def join(self, request: Prepare) -> None:
        """A role comes, which may take turns; SettingsError unless it agrees with those that are there."""
        if not request.turns:
            return
        kept = self._kept.get(request.address)
        if kept is None:
            kept = self._kept[request.address] = _Kept(self._start(request), _terms(request))
        elif _terms(request) != kept.terms:
            expected = f"those of the other flows at {request.address}: {kept.terms}"
            raise SettingsError("turns", _terms(request), expected)
        kept.roles.add(request.role)

    def leave(self, role: str) -> None:
        """A role has ended; the last one of a card ends its keeper."""
        for address, kept in list(self._kept.items()):
            kept.roles.discard(role)
            if not kept.roles:
                _end(self._kept.pop(address).process)


def _terms(request: Prepare) -> str:
    """What a keeper keeps, on which all its flows must agree."""
    burst = request.limiter_burst_bytes
    return f"{request.limiter} limiters of priorities {request.turns} with a burst of {burst} bytes"


def _end(process: Keeper) -> None:
    """End a keeper so that it lifts what it lent, or by force."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
    process.kill()
    process.wait()
