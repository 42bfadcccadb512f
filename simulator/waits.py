"""Who waits for whom, when nothing moves any more."""

from collections.abc import Iterable
from typing import NamedTuple


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
    """Say who waits for whom, in one sentence."""
    if deadlock:
        return "deadlock: " + ", which waits for ".join([*deadlock, deadlock[0]])
    words = [
        f"{wait.port} (priority {wait.priority}) waits for {', '.join(wait.behind) or 'the host'}"
        for wait in waits
    ]
    return "; ".join(words) or "no port is paused with something to send"
