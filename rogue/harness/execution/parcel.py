"""A cell on its way to another process, which may have to load plug-ins before it can unpickle the cell."""

import pickle
from dataclasses import dataclass

from rogue.harness.execution.cell import Task
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import PluginSource


@dataclass(frozen=True, slots=True)
class Parcel:
    """A task, wrapped; whoever unpickles a parcel needs nothing but this package."""

    plugins: tuple[PluginSource, ...]
    pickled: bytes

    def unpack(self) -> Task:
        """Load the plug-ins, which have been loaded without an error where the parcel comes from."""
        load_plugins(self.plugins)
        task = pickle.loads(self.pickled)
        assert isinstance(task, Task), task
        return task


def pack(task: Task) -> Parcel:
    """Wrap a task."""
    return Parcel(task.plugins, pickle.dumps(task))
