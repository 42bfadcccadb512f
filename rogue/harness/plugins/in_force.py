"""Plug-ins of a process that runs cells of several runs, which may have other versions of one plug-in."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition

from rogue.harness.plugins.loading import load_plugins, loaded_plugins, unload_plugins
from rogue.harness.plugins.source import PluginSource


class _Users:
    """How many cells of this process run with the plug-ins that are loaded."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.count = 0


_users = _Users()


@contextmanager
def in_force(sources: Sequence[PluginSource]) -> Iterator[None]:
    """Have these plug-ins loaded meanwhile; what else is loaded may have to go.

    One name means one thing in a process: who needs another version waits until nobody uses the first.
    """
    with _users.changed:
        _users.changed.wait_for(lambda: _users.count == 0 or _are_loaded(sources))
        if not _are_loaded(sources):
            unload_plugins()
            load_plugins(sources)
        _users.count += 1
    try:
        yield
    finally:
        with _users.changed:
            _users.count -= 1
            _users.changed.notify_all()


def _are_loaded(sources: Sequence[PluginSource]) -> bool:
    return {source.sha256 for source in sources} <= {each.source.sha256 for each in loaded_plugins()}
