"""Reads the files that an experiment names, each once, and remembers which they were."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rogue.harness.data.goal import read_goal
from rogue.harness.data.network import read_network
from rogue.harness.data.nic_profile import read_nic_profile
from rogue.harness.data.sizes import read_sizes
from rogue.harness.data.source import DataSource, Reader, read_source
from rogue.harness.data.trace import read_trace
from rogue.workloads.flow_sizes import SizesOfFile
from rogue.workloads.specification import mistake
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.topologies.nic_file import NicOfFile
from rogue.workloads.traffic.goal import GoalSchedule
from rogue.workloads.traffic.trace import TraceRows

READERS: Final[Mapping[type, Reader]] = {
    TraceRows: read_trace,
    GoalSchedule: read_goal,
    SizesOfFile: read_sizes,
    LinkList: read_network,
    NicOfFile: read_nic_profile,
}
"""The kinds of a file, by its use."""


@dataclass(slots=True)
class DataFiles:
    """The files of one experiment: the context in which it is validated."""

    get: Callable[[str], DataSource]
    """The content under a name; a mistake says why there is none."""
    sources: dict[str, DataSource] = field(default_factory=dict)
    """Those that were read, by name."""
    _values: dict[tuple[type, str], object] = field(default_factory=dict)

    def read(self, kind: type, name: str) -> object:
        """Return the content of a file, parsed as that kind."""
        if name not in self.sources:
            self.sources[name] = self.get(name)
        if (kind, name) not in self._values:
            self._values[kind, name] = READERS[kind](self.sources[name])
        return self._values[kind, name]


def files_beside(experiment: str) -> DataFiles:
    """Return files that are named relative to an experiment's file."""
    here = Path(experiment).parent
    return DataFiles(lambda name: read_source(here / name, name))


def kept_files(sources: Mapping[str, DataSource]) -> DataFiles:
    """Return files from the copies in a run."""

    def get(name: str) -> DataSource:
        if name not in sources:
            raise mistake("a file that the run keeps", "start a new run", name)
        return sources[name]

    return DataFiles(get)
