"""The interface of a testbed: a place where cells run."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.errors import ExitCode, HarnessError
from rogue.workloads.records import FailureKind

if TYPE_CHECKING:
    import numpy as np

Columns = Mapping[str, "Sequence[object] | np.ndarray"]
Fact = str | int | float | bool | None
Progress = Callable[[float], None]
"""Called with the fraction of a cell that is done, 0 to 1."""


class TestbedError(HarnessError):
    """A cell failed for a reason that the testbed knows."""

    __test__ = False  # pytest: not a test class
    exit_code = ExitCode.TESTBED

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(*message.splitlines())
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason for a cell without a result."""

    kind: FailureKind
    message: str


@dataclass(slots=True)
class CellResult:
    """Tables of a cell by the names of `rogue.workloads.records`, columns in any order, and its facts."""

    tables: dict[str, Columns] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    not_measured: dict[str, str] = field(default_factory=dict)
    """Requested measures without a table, or without a whole sample, each with the reason."""
    failure: Failure | None = None
    raw: dict[str, bytes] = field(default_factory=dict)
    """Files for `raw/`."""


class Testbed(ABC):
    """A place where cells run. It is pickled into the process that runs a cell.

    A testbed has a name, says which cells it cannot run, and runs the others.
    """

    __test__ = False  # pytest: not a test class

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the key in the registry."""

    @property
    def jobs_max(self) -> int | None:
        """Return how many cells may run at once; None: as many as there are cores."""
        return None

    def jobs(self, wanted: int) -> int:
        """Return the number of cells at once: as wanted, but at most what can run here."""
        return min(wanted, self.jobs_max or wanted)

    def obstacles(self) -> list[str]:
        """Return what prevents measuring here now, a sentence each; called once before a run."""
        return []

    @abstractmethod
    def unsupported(self, cell: Cell) -> str | None:
        """Return why the cell cannot run here, and what could instead; None if it can."""

    def is_same_for_every_seed(self, cell: Cell) -> bool:
        """True if all repetitions of a cell can run here or none, and should take equally long."""
        return False

    def parameter_mistake(self, cell: Cell) -> ParameterMistake | None:
        """Return the first parameter of the cell's transport that cannot be; None if there is none."""
        return None

    def differences(self, cell: Cell) -> list[str]:
        """Return how the network of a cell that can run here differs from the experiment, a sentence each."""
        return []

    def estimate_seconds(self, cell: Cell) -> float:
        """Return how long the cell should take; by default as long as its traffic lasts."""
        return cell.timing.traffic_ns / SECOND_NS

    def estimate_events(self, cell: Cell) -> float | None:
        """Return how many events an engine should simulate for it; None where nothing is simulated."""
        return None

    @abstractmethod
    def run(self, cell: Cell, progress: Progress) -> CellResult:
        """Run one cell to its end.

        A failure that the testbed recognises is returned in the result, with what was measured until then, or
        raised as TestbedError; any other exception counts as a bug.
        """
