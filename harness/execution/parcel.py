"""A cell on its way to another process, which may have to load plug-ins before it can unpickle the cell."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rogue.harness.execution.cell import Task
from rogue.harness.plugins.in_force import in_force
from rogue.harness.plugins.source import PluginSource


@dataclass(frozen=True, slots=True)
class Parcel:
    """A wrapped task; unpickling it needs nothing but this package."""

    plugins: tuple[PluginSource, ...]
    pickled: bytes

    @contextmanager
    def unpacked(self) -> Iterator[Task]:
        """The task, with its plug-ins; they have been loaded without an error where the parcel comes from."""
        with in_force(self.plugins):
            task = pickle.loads(self.pickled)
            assert isinstance(task, Task), task
            yield task


def pack(task: Task) -> Parcel:
    """Wrap a task."""
    return Parcel(task.plugins, pickle.dumps(task))
