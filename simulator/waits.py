"""The ports that wait for each other when no packet moves."""

from collections.abc import Iterable
from typing import Final, NamedTuple

NAMED_MAX: Final = 3
"""How many ports are named where there is no loop."""


class Wait(NamedTuple):
    """A port that has something to send but was told to pause, as ``switch->switch``.

    ``behind`` are the ports of the far end where frames wait that came from here: it goes on when they do. It
    is empty where the far end is a host.
    """

    port: str
    priority: int
    behind: tuple[str, ...]


def find_deadlock(waits: Iterable[Wait]) -> list[str]:
    """Return ports that each wait for the next one, the last one for the first; none if there are none."""
    behind = {(wait.port, wait.priority): wait.behind for wait in waits}
    ended: set[tuple[str, int]] = set()
    for start in behind:
        path: list[tuple[str, int]] = []
        branches = [iter([start[0]])]
        while branches:
            port = next(branches[-1], None)
            if port is None:
                branches.pop()
                if path:
                    ended.add(path.pop())
                continue
            place = (port, start[1])
            if place in path:
                return [name for name, _ in path[path.index(place) :]]
            if place in behind and place not in ended:
                path.append(place)
                branches.append(iter(behind[place]))
    return []


def explained(waits: Iterable[Wait], deadlock: list[str]) -> str:
    """Name the ports that wait for each other: those of a loop, or those that hold up the others first."""
    if deadlock:
        pairs = zip(deadlock, [*deadlock[1:], deadlock[0]], strict=True)
        loop = ", ".join(f"{port} waits for {behind}" for port, behind in pairs)
        return f"a deadlock, for ports wait for each other in a loop: {loop}"
    roots_first = sorted(waits, key=lambda wait: bool(wait.behind))
    words = [f"{wait.port} waits for {_names(wait.behind) or 'its host'}" for wait in roots_first]
    more = len(words) - NAMED_MAX
    rest = [f"and {more} more port{'s wait' if more > 1 else ' waits'}"] if more > 0 else []
    return ", ".join([*words[:NAMED_MAX], *rest]) or "no port is paused with something to send"


def _names(ports: tuple[str, ...]) -> str:
    return " and ".join([*ports[:NAMED_MAX], *(["others"] if len(ports) > NAMED_MAX else [])])
