"""Plug-ins of a process that runs cells of several runs, which may have other versions of one plug-in."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition
from typing import Final

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.loading import load_plugins, loaded_plugins, unload_plugins
from rogue.harness.plugins.source import PluginSource

WAIT_LIMIT_S: Final = 3_600.0
"""How long a cell waits for cells with another version. A cell that runs for longer may hang."""


class _Users:
    """Cells of this process: some run with the loaded plug-ins, others wait for another version."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.count = 0
        self.queue: deque[object] = deque()
        """Cells that wait, in the order of their arrival."""


_users = _Users()


@contextmanager
def in_force(sources: Sequence[PluginSource], limit_s: float = WAIT_LIMIT_S) -> Iterator[None]:
    """Load these plug-ins for the time of the block, and unload others if they conflict.

    One name means one thing in a process. A cell that needs another version waits until no cell uses the
    first, and later cells wait behind it. After `limit_s` seconds a ConfigError says what is still in use.
    """
    with _users.changed:
        _enter(sources, limit_s)
    try:
        yield
    finally:
        with _users.changed:
            _users.count -= 1
            _users.changed.notify_all()


def _enter(sources: Sequence[PluginSource], limit_s: float) -> None:
    """Become a user when it is our turn."""
    turn = object()
    _users.queue.append(turn)
    try:
        if not _users.changed.wait_for(lambda: _users.queue[0] is turn and _may_enter(sources), limit_s):
            raise _held(sources, limit_s)
        if not _are_loaded(sources):
            unload_plugins()
            load_plugins(sources)
        _users.count += 1
    finally:
        _users.queue.remove(turn)
        _users.changed.notify_all()


def _may_enter(sources: Sequence[PluginSource]) -> bool:
    return _users.count == 0 or _are_loaded(sources)


def _are_loaded(sources: Sequence[PluginSource]) -> bool:
    return {source.identity for source in sources} <= {each.source.identity for each in loaded_plugins()}


def _held(sources: Sequence[PluginSource], limit_s: float) -> ConfigError:
    place = ", ".join(source.file for source in sources) or "a cell without plug-ins"
    held = ", ".join(f"{each.source.file} ({each.source.sha256[:12]})" for each in loaded_plugins())
    cells = f"{_users.count} cell{'s' if _users.count != 1 else ''}"
    got = f"{held or 'no plug-in'} in use by {cells} of this worker for {limit_s:g} s"
    expected = "those cells to end, as a worker has one version of a plug-in at a time"
    return ConfigError([Problem(place, "", got, expected, "wait for the other run, or restart the worker")])
